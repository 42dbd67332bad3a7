import com.alibaba.fastjson.JSON;
import java.io.PrintStream;
import java.lang.reflect.Constructor;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.rocketmq.broker.pop.PopConsumerRecord;
import org.apache.rocketmq.broker.pop.PopConsumerRocksdbStore;

/** usage: PopStates OUT_DIR: a kvStore that PopConsumerRocksdbStore wrote, consumerOrderInfo.json of the order info
 * manager, and what they say of themselves. */
public class PopStates {
    static final long T = 1795000000000L;

    public static void main(String[] args) throws Exception {
        Path out = Path.of(args[0]);
        Map<String, Object> told = new LinkedHashMap<>();
        told.put("records", records(out.resolve("store").resolve("kvStore")));
        told.put("orders", orders(out.resolve("store").resolve("config").resolve("consumerOrderInfo.json")));
        Files.writeString(out.resolve("told.json"), JSON.toJSONString(told));
        System.exit(0);
    }

    static PopConsumerRecord record(int n, String group, String topic, int queue, int retry, long offset) {
        return new PopConsumerRecord(T + n * 10L, group, topic, queue, retry, 30000 + n, offset, n % 3 == 0 ? "attempt-" + n : null);
    }

    static List<Map<String, Object>> records(Path folder) throws Exception {
        PopConsumerRocksdbStore store = new PopConsumerRocksdbStore(folder.toString());
        if (!store.start()) throw new IllegalStateException("not started");
        List<PopConsumerRecord> all = new ArrayList<>();
        for (int n = 0; n < 60; n++) {
            boolean v2 = n % 10 == 7;
            boolean v1 = n % 10 == 3;
            String group = n % 2 == 0 ? "G" : "Gruppe-1";
            String topic = v1 ? "%RETRY%" + group + "_T" : v2 ? "%RETRY%" + group + "+T" : "T";
            all.add(record(n, group, topic, v1 || v2 ? 0 : n % 4, v1 ? 1 : v2 ? 2 : 0, n / 4));
        }
        all.get(59).setAttemptTimes(2);
        store.writeRecords(all);
        List<PopConsumerRecord> acked = new ArrayList<>();
        for (int n = 0; n < 60; n += 5) acked.add(all.get(n));
        store.deleteRecords(acked);
        List<Map<String, Object>> told = new ArrayList<>();
        for (PopConsumerRecord each : store.scanExpiredRecords(0, Long.MAX_VALUE, 1000)) {
            Map<String, Object> row = new LinkedHashMap<>();
            row.put("group", each.getGroupId());
            row.put("topic", each.getTopicId());
            row.put("queueId", each.getQueueId());
            row.put("queueOffset", each.getOffset());
            row.put("popTime", each.getPopTime());
            row.put("visibleAt", each.getVisibilityTimeout());
            told.add(row);
        }
        store.shutdown();
        return told;
    }

    static List<Map<String, Object>> orders(Path file) throws Exception {
        Class<?> kind;
        Object manager;
        try {
            kind = Class.forName("org.apache.rocketmq.broker.pop.orderly.QueueLevelConsumerManager");
        } catch (ClassNotFoundException before54) {
            kind = Class.forName("org.apache.rocketmq.broker.offset.ConsumerOrderInfoManager");
        }
        Constructor<?> empty = kind.getConstructor();
        manager = empty.newInstance();
        java.lang.reflect.Method update = named(kind, "update");
        java.lang.reflect.Method commit = named(kind, "commitAndNext");
        java.lang.reflect.Method visible = named(kind, "updateNextVisibleTime");
        Object[][] pops = {{"a-1", "Ord", "OG", 0, new Long[] {4L, 5L, 7L}}, {"a-2", "Ord", "OG", 1, new Long[] {9L}}, {null, "Ord", "OH", 0, new Long[] {0L, 1L}}};
        for (Object[] pop : pops) {
            update.invoke(manager, pop[0], false, pop[1], pop[2], pop[3], T, 60000L, List.of((Long[]) pop[4]), new StringBuilder());
        }
        commit.invoke(manager, "Ord", "OG", 0, 4L, T);
        visible.invoke(manager, "Ord", "OG", 0, 7L, T, T + 90000);
        commit.invoke(manager, "Ord", "OG", 1, 9L, T);
        Files.createDirectories(file.getParent());
        Files.writeString(file, (String) kind.getMethod("encode").invoke(manager));
        List<Map<String, Object>> told = new ArrayList<>();
        for (Object[] pop : pops) {
            Object info = ((Map<?, ?>) ((Map<?, ?>) kind.getMethod("getTable").invoke(manager)).get(pop[1] + "@" + pop[2])).get(pop[3]);
            Class<?> of = info.getClass();
            int size = ((Long[]) pop[4]).length;
            for (int i = 0; i < size; i++) {
                Map<String, Object> row = new LinkedHashMap<>();
                long offset = (Long) of.getMethod("getQueueOffset", int.class).invoke(info, i);
                Map<?, ?> next = (Map<?, ?>) of.getMethod("getOffsetNextVisibleTime").invoke(info);
                Object at = next == null ? null : next.get(offset);
                row.put("group", pop[2]);
                row.put("topic", pop[1]);
                row.put("queueId", pop[3]);
                row.put("queueOffset", offset);
                row.put("popTime", of.getMethod("getPopTime").invoke(info));
                row.put("acked", !(Boolean) of.getMethod("isNotAck", int.class).invoke(info, i));
                row.put("visibleAt", at != null ? at : T + (Long) of.getMethod("getInvisibleTime").invoke(info));
                told.add(row);
            }
        }
        return told;
    }

    static java.lang.reflect.Method named(Class<?> kind, String name) {
        for (java.lang.reflect.Method each : kind.getMethods()) if (each.getName().equals(name)) return each;
        throw new IllegalStateException(name);
    }
}
