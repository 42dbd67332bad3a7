package consumer

import (
	"sort"

	"github.com/apache/rocketmq-client-go/v2/primitive"
)

// LabTable: what the consumer has in its process queue table.
func LabTable(c interface{}) [][]interface{} {
	pc := c.(*pushConsumer)
	rows := make([][]interface{}, 0)
	pc.processQueueTable.Range(func(key, value interface{}) bool {
		mq := key.(primitive.MessageQueue)
		pq := value.(*processQueue)
		rows = append(rows, []interface{}{mq.Topic, mq.BrokerName, mq.QueueId, map[string]bool{"dropped": pq.IsDroppd(), "locked": pq.IsLock()}})
		return true
	})
	sort.Slice(rows, func(i, j int) bool {
		a, b := rows[i], rows[j]
		if a[0].(string) != b[0].(string) {
			return a[0].(string) < b[0].(string)
		}
		if a[1].(string) != b[1].(string) {
			return a[1].(string) < b[1].(string)
		}
		return a[2].(int) < b[2].(int)
	})
	return rows
}

func LabClientID(c interface{}) string { return c.(*pushConsumer).client.ClientID() }
