import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.apache.rocketmq.remoting.protocol.DataVersion;
import org.apache.rocketmq.remoting.protocol.body.TopicQueueMappingSerializeWrapper;
import org.apache.rocketmq.remoting.protocol.statictopic.LogicQueueMappingItem;
import org.apache.rocketmq.remoting.protocol.statictopic.TopicQueueMappingDetail;

/** topicQueueMapping.json of random static topics, as TopicQueueMappingManager#encode writes it, and what the classes
 *  say of each item. Arguments: seed, topicQueueMapping.json, truth.jsonl. */
public class QueueMappings {
    public static void main(String[] arguments) throws Exception {
        Random random = new Random(Long.parseLong(arguments[0]));
        ConcurrentMap<String, TopicQueueMappingDetail> table = new ConcurrentHashMap<>();
        for (int topic = 0; topic < 6; topic++) {
            TopicQueueMappingDetail detail =
                new TopicQueueMappingDetail("Static" + topic, 4 + topic, "broker-a", 1_700_000_000_000L + topic * 1000L);
            detail.setDirty(topic == 4);
            for (int queue = 0; topic != 5 && queue < 4; queue++) {
                TopicQueueMappingDetail.putMappingInfo(detail, queue, items(random, queue));
            }
            detail.setCurrIdMap(TopicQueueMappingDetail.buildIdMap(detail, TopicQueueMappingDetail.LEVEL_0));
            table.put(detail.getTopic(), detail);
        }
        TopicQueueMappingSerializeWrapper wrapper = new TopicQueueMappingSerializeWrapper();
        DataVersion version = new DataVersion();
        version.nextVersion();
        wrapper.setDataVersion(version);
        wrapper.setTopicQueueMappingInfoMap(table);
        try (PrintWriter out = new PrintWriter(arguments[1], "UTF-8")) {
            out.print(wrapper.toJson(true));
        }
        try (PrintWriter out = new PrintWriter(arguments[2], "UTF-8")) {
            for (TopicQueueMappingDetail detail : table.values()) {
                for (Integer queue : detail.getHostedQueues().keySet()) {
                    tell(out, detail, queue);
                }
            }
        }
    }

    static List<LogicQueueMappingItem> items(Random random, int queue) {
        List<LogicQueueMappingItem> items = new ArrayList<>();
        long logic = 0;
        int generations = 1 + random.nextInt(3);
        for (int gen = 0; gen < generations; gen++) {
            boolean last = gen == generations - 1;
            long start = gen == 0 ? 0 : random.nextInt(1000);
            long end = last ? -1 : start + random.nextInt(5000);
            boolean decided = !last || gen == 0 || random.nextBoolean();
            String broker = random.nextBoolean() ? "broker-a" : "broker-b";
            items.add(new LogicQueueMappingItem(gen, queue + gen * 4, broker, decided ? logic : -1, start, end,
                1_700_000_000_000L + gen, last ? -1 : 1_700_000_100_000L + gen));
            logic += end - start;
        }
        return items;
    }

    static void tell(PrintWriter out, TopicQueueMappingDetail detail, Integer queue) {
        List<LogicQueueMappingItem> items = TopicQueueMappingDetail.getMappingInfo(detail, queue);
        for (int number = 0; number < items.size(); number++) {
            LogicQueueMappingItem item = items.get(number);
            Integer current = detail.getCurrIdMap().get(queue);
            out.printf("{\"topic\": \"%s\", \"logic_queue_id\": %d, \"gen\": %d, \"item_broker\": \"%s\", \"queue_id\": %d, "
                + "\"is_end_decided\": %b, \"is_logic_decided\": %b, \"first\": %d, \"end\": %d, \"current\": %b}%n",
                detail.getTopic(), queue, item.getGen(), item.getBname(), item.getQueueId(),
                item.checkIfEndOffsetDecided(), item.checkIfLogicoffsetDecided(),
                item.computeStaticQueueOffsetStrictly(item.getStartOffset()), item.computeMaxStaticQueueOffset(),
                current != null && number == items.size() - 1);
        }
    }
}
