import com.alibaba.fastjson.JSON;
import com.alibaba.fastjson.JSONArray;
import com.alibaba.fastjson.JSONObject;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.Base64;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.client.producer.SendStatus;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageAccessor;
import org.apache.rocketmq.common.message.MessageQueue;

/** Sends the messages of `rocketlens dump commitlog … --sendable --out FILE.jsonl`: FILE.jsonl NAMESRV [--send]. */
public class Resend {
    private static final Set<String> OF_THE_BROKER = Set.of("CLUSTER", "MSG_REGION", "TRACE_ON", "DELAY", "TRAN_MSG", "PGROUP", "__CRC32#");

    public static void main(String[] args) throws Exception {
        boolean sends = args.length == 3 && args[2].equals("--send");
        DefaultMQProducer producer = new DefaultMQProducer("rocketlens_resend");
        producer.setNamesrvAddr(args[1]);
        producer.setRetryTimesWhenSendFailed(0); // a retry goes to another queue, and may store the message twice
        if (sends) producer.start();
        long line = 0;
        try (Stream<String> lines = Files.lines(Paths.get(args[0]))) {
            for (Iterator<String> rows = lines.iterator(); rows.hasNext(); ) {
                JSONObject row = JSON.parseObject(rows.next());
                line++;
                Message message = messageOf(row);
                if (sends) {
                    SendResult result = producer.send(message, Resend::sameQueue, row.getIntValue("queue_id"));
                    if (result.getSendStatus() != SendStatus.SEND_OK) {
                        throw new IllegalStateException("line " + line + ": " + result);
                    }
                }
            }
        } catch (Exception stopped) {
            throw new IllegalStateException("stopped at line " + line + "; the lines before it are " + (sends ? "sent" : "fine"), stopped);
        } finally {
            producer.shutdown();
        }
        System.out.println(line + (sends ? " messages sent" : " messages read, none sent: add --send"));
    }

    private static MessageQueue sameQueue(List<MessageQueue> queues, Message message, Object queueId) {
        int id = (Integer) queueId;
        return queues.stream().filter(queue -> queue.getQueueId() == id).findFirst().orElse(queues.get(id % queues.size()));
    }

    private static Message messageOf(JSONObject row) {
        Message message = new Message(row.getString("topic"), Base64.getDecoder().decode(row.getString("body")));
        message.setFlag(row.getIntValue("flag"));
        for (Object pair : row.getJSONArray("properties")) {
            String name = ((JSONArray) pair).getString(0);
            if (!OF_THE_BROKER.contains(name) && !name.startsWith("TIMER_") && !name.startsWith("INNER_")) {
                MessageAccessor.putProperty(message, name, ((JSONArray) pair).getString(1));
            }
        }
        return message;
    }
}
