import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.security.MessageDigest;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.apache.rocketmq.broker.filter.CommitLogDispatcherCalcBitMap;
import org.apache.rocketmq.broker.filter.ConsumerFilterManager;
import org.apache.rocketmq.common.BrokerConfig;
import org.apache.rocketmq.store.ConsumeQueue;
import org.apache.rocketmq.store.DefaultMessageStore;
import org.apache.rocketmq.store.MappedFileQueue;
import org.apache.rocketmq.store.config.MessageStoreConfig;
import org.apache.rocketmq.store.logfile.MappedFile;
import org.apache.rocketmq.store.queue.ConsumeQueueInterface;

/**
 * Starts a store of ExtStore as a broker does that calculates bit maps by config/consumerFilter.json, and prints the used
 * bytes of every queue file and ext file once dispatch is quiet. Usage: ROOT
 */
public class StartWithFilters {
    public static void main(String[] args) throws Exception {
        java.io.PrintStream out = System.out;
        System.setOut(System.err);
        MessageStoreConfig config = new MessageStoreConfig();
        config.setStorePathRootDir(args[0]);
        config.setStorePathCommitLog(args[0] + File.separator + "commitlog");
        config.setMappedFileSizeCommitLog(1 << 16);
        config.setMappedFileSizeConsumeQueue(2000);
        config.setMappedFileSizeConsumeQueueExt(1000);
        config.setEnableConsumeQueueExt(true);
        config.setMaxHashSlotNum(100);
        config.setMaxIndexNum(400);
        config.setHaListenPort(0);
        config.setCleanResourceInterval(3600_000);
        config.setDiskMaxUsedSpaceRatio(95);
        config.setFileReservedTime(24 * 3650);
        BrokerConfig broker = new BrokerConfig();
        broker.setEnableCalcFilterBitMap(true);
        ConsumerFilterManager filters = new ConsumerFilterManager();
        config.setBitMapLengthConsumeQueueExt(filters.getBloomFilter().getM());
        Path stored = Paths.get(args[0], "config", "consumerFilter.json");
        if (Files.exists(stored)) filters.decode(new String(Files.readAllBytes(stored), StandardCharsets.UTF_8));
        DefaultMessageStore store = new DefaultMessageStore(config, null, (topic, queue, offset, tags, time, bits, properties) -> { }, broker, new ConcurrentHashMap<>());
        store.getDispatcherList().addFirst(new CommitLogDispatcherCalcBitMap(broker, filters));
        Map<String, String> told = new TreeMap<>();
        told.put("load", "" + store.load());
        if (told.get("load").equals("true")) {
            store.start();
            for (int quiet = 0; quiet < 10; quiet = store.dispatchBehindBytes() > 0 ? 0 : quiet + 1) Thread.sleep(50);
            for (ConcurrentMap<Integer, ConsumeQueueInterface> queues : store.getConsumeQueueTable().values())
                for (ConsumeQueueInterface queue : queues.values()) {
                    String name = queue.getTopic() + "/" + queue.getQueueId() + "/";
                    tell(told, "consumequeue/" + name, field(queue, ConsumeQueue.class, "mappedFileQueue"));
                    tell(told, "consumequeue_ext/" + name, field(field(queue, ConsumeQueue.class, "consumeQueueExt"), null, "mappedFileQueue"));
                }
        }
        StringBuilder text = new StringBuilder();
        for (Map.Entry<String, String> each : told.entrySet()) text.append(each.getKey()).append(' ').append(each.getValue()).append('\n');
        out.print(text);
        out.flush();
        Runtime.getRuntime().halt(0);
    }

    static Object field(Object of, Class<?> type, String name) throws Exception {
        java.lang.reflect.Field field = (type == null ? of.getClass() : type).getDeclaredField(name);
        field.setAccessible(true);
        return field.get(of);
    }

    static void tell(Map<String, String> told, String folder, Object files) throws Exception {
        for (MappedFile file : ((MappedFileQueue) files).getMappedFiles()) {
            byte[] used = new byte[file.getWrotePosition()];
            System.arraycopy(Files.readAllBytes(Paths.get(file.getFileName())), 0, used, 0, used.length);
            StringBuilder hex = new StringBuilder();
            for (byte b : MessageDigest.getInstance("SHA-256").digest(used)) hex.append(String.format("%02x", b));
            told.put(folder + new File(file.getFileName()).getName(), used.length + " " + hex);
        }
    }
}
