package main

import (
	"context"
	"encoding/json"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	rocketmq "github.com/apache/rocketmq-client-go/v2"
	"github.com/apache/rocketmq-client-go/v2/consumer"
	"github.com/apache/rocketmq-client-go/v2/primitive"
	"github.com/apache/rocketmq-client-go/v2/rlog"
)

var mu sync.Mutex
var out *os.File

func put(fields map[string]interface{}) {
	fields["ts"] = time.Now().UnixMilli()
	b, _ := json.Marshal(fields)
	mu.Lock()
	defer mu.Unlock()
	out.Write(append(b, '\n'))
}

type M = map[string]interface{}

func main() {
	o := map[string]string{}
	for _, a := range os.Args[1:] {
		kv := strings.SplitN(a, "=", 2)
		o[kv[0]] = kv[1]
	}
	out, _ = os.OpenFile(o["truth"], os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0644)
	rlog.SetLogLevel(o["level"])
	if o["log"] != "" {
		rlog.SetOutputPath(o["log"])
	}
	strategy := consumer.AllocateByAveragely
	name := "AVG"
	if o["strategy"] == "AVG_BY_CIRCLE" {
		strategy, name = consumer.AllocateByAveragelyCircle, "AVG_BY_CIRCLE"
	} else if o["strategy"] == "CONSISTENT_HASH" {
		strategy, name = consumer.AllocateByConsistentHash(10), "CONSISTENT_HASH"
	}
	put(M{"ev": "start_begin", "group": o["group"], "strategy": name, "mode": o["mode"], "pid": os.Getpid()})
	opts := []consumer.Option{
		consumer.WithGroupName(o["group"]),
		consumer.WithNsResolver(primitive.NewPassthroughResolver([]string{o["namesrv"]})),
		consumer.WithStrategy(strategy),
		consumer.WithConsumeFromWhere(consumer.ConsumeFromFirstOffset),
		consumer.WithConsumerOrder(o["mode"] == "orderly"),
	}
	if o["mode"] == "broadcast" {
		opts = append(opts, consumer.WithConsumerModel(consumer.BroadCasting))
	}
	if o["instance"] != "" {
		opts = append(opts, consumer.WithInstance(o["instance"]))
	}
	c, err := rocketmq.NewPushConsumer(opts...)
	if err != nil {
		panic(err)
	}
	tags := o["tags"]
	if tags == "" {
		tags = "*"
	}
	for _, topic := range strings.Split(o["topics"], ",") {
		c.Subscribe(topic, consumer.MessageSelector{Type: consumer.TAG, Expression: tags}, func(ctx context.Context, ms ...*primitive.MessageExt) (consumer.ConsumeResult, error) {
			id := consumer.LabClientID(c)
			for _, ph := range []string{"begin", "end"} {
				for _, m := range ms {
					put(M{"ev": ph, "client": id, "topic": m.Topic, "broker": m.Queue.BrokerName, "queueId": m.Queue.QueueId, "queueOffset": m.QueueOffset, "msgId": m.MsgId, "keys": m.GetKeys(), "reconsumeTimes": m.ReconsumeTimes})
				}
				if ph == "begin" {
					time.Sleep(2 * time.Millisecond)
				}
			}
			return consumer.ConsumeSuccess, nil
		})
	}
	if err := c.Start(); err != nil {
		panic(err)
	}
	id := consumer.LabClientID(c)
	put(M{"ev": "started", "client": id, "topics": o["topics"], "tags": tags})
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	go func() {
		<-stop
		put(M{"ev": "shutdown_begin", "client": id})
		c.Shutdown()
		put(M{"ev": "shutdown_end", "client": id})
		os.Exit(0)
	}()
	last := ""
	for {
		t := consumer.LabTable(c)
		b, _ := json.Marshal(t)
		if string(b) != last {
			put(M{"ev": "table", "client": id, "table": t})
			last = string(b)
		}
		time.Sleep(100 * time.Millisecond)
	}
}
