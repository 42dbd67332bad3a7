import com.alibaba.fastjson.JSON;
import com.alibaba.fastjson.JSONArray;
import com.alibaba.fastjson.JSONObject;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Base64;
import java.util.Deque;
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

/** Sends the messages of `rocketlens dump commitlog … --sendable --out FILE.jsonl`. */
public class Resend {
    private static final String USAGE = "usage: FILE.jsonl NAMESRV [--from LINE] [--topic T] [--send]";
    private static final Set<String> OF_THE_BROKER = Set.of("CLUSTER", "MSG_REGION", "TRACE_ON", "DELAY", "TRAN_MSG", "PGROUP", "__CRC32#",
        "ORIGIN_MESSAGE_ID", "RETRY_TOPIC", "REAL_TOPIC", "REAL_QID");

    public static void main(String[] args) throws Exception {
        if (args.length < 2) throw new IllegalArgumentException(USAGE);
        boolean sends = false;
        long first = 1;
        String topic = null;
        Deque<String> options = new ArrayDeque<>(Arrays.asList(args).subList(2, args.length));
        while (!options.isEmpty()) {
            String option = options.pop();
            if (option.equals("--send")) sends = true;
            else if (option.equals("--from") && !options.isEmpty()) first = Long.parseLong(options.pop());
            else if (option.equals("--topic") && !options.isEmpty()) topic = options.pop();
            else throw new IllegalArgumentException(option + "; " + USAGE);
        }
        DefaultMQProducer producer = new DefaultMQProducer("rocketlens_resend");
        producer.setNamesrvAddr(args[1]);
        producer.setRetryTimesWhenSendFailed(0); // a retry goes to another queue, and may store the message twice
        if (sends) producer.start();
        long line = 0;
        long done = 0;
        boolean asked = false; // whether the broker was asked to store this line
        try (Stream<String> lines = Files.lines(Paths.get(args[0]))) {
            for (Iterator<String> rows = lines.iterator(); rows.hasNext(); ) {
                asked = false;
                String text = rows.next();
                line++;
                if (line < first) continue;
                JSONObject row = JSON.parseObject(text);
                Message message = messageOf(row, topic == null ? row.getString("topic") : topic);
                if (sends) {
                    asked = true;
                    SendResult result = producer.send(message, Resend::sameQueue, row.getIntValue("queue_id"));
                    if (result.getSendStatus() != SendStatus.SEND_OK) { // the master has it: see SendStatus
                        System.err.println("line " + line + " is stored by the master, but " + result);
                    }
                }
                done++;
            }
        } catch (Exception stopped) {
            String said = asked ? "line " + line + " may be stored: look for its UNIQ_KEY" : "stopped at line " + line;
            throw new IllegalStateException(said + "; the lines before it are " + (sends ? "sent" : "fine"), stopped);
        } finally {
            producer.shutdown();
        }
        System.out.println(done + (sends ? " messages sent" : " messages read, none sent: add --send"));
    }

    private static MessageQueue sameQueue(List<MessageQueue> queues, Message message, Object queueId) {
        int id = (Integer) queueId;
        return queues.stream().filter(queue -> queue.getQueueId() == id).findFirst().orElse(queues.get(id % queues.size()));
    }

    private static Message messageOf(JSONObject row, String topic) {
        Message message = new Message(topic, Base64.getDecoder().decode(row.getString("body")));
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
