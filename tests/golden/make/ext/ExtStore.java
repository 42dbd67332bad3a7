import java.io.File;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.rocketmq.broker.filter.CommitLogDispatcherCalcBitMap;
import org.apache.rocketmq.broker.filter.ConsumerFilterManager;
import org.apache.rocketmq.common.BrokerConfig;
import org.apache.rocketmq.common.message.MessageAccessor;
import org.apache.rocketmq.common.message.MessageDecoder;
import org.apache.rocketmq.common.message.MessageExtBrokerInner;
import org.apache.rocketmq.store.DefaultMessageStore;
import org.apache.rocketmq.store.config.FlushDiskType;
import org.apache.rocketmq.store.config.MessageStoreConfig;

/** A store whose ext units the real dispatcher wrote, over several ext files and with many filters. Usage: ROOT SEED */
public class ExtStore {
    static final String[][] FILTERS = {
        {"Many", "g1", "a > 3"}, {"Many", "g2", "TAGS = 'TagB' OR a BETWEEN 1 AND 2"}, {"Many", "g3", "b IS NULL"},
        {"Many", "g4", "s IN ('x', 'y') AND a <> 2"}, {"Many", "g5", "a"}, {"Many", "g6", "a + 1"}, {"One", "g1", "TRUE"},
        {"One", "g7", "t > 'x'"}};

    public static void main(String[] args) throws Exception {
        Random random = new Random(Long.parseLong(args[1]));
        MessageStoreConfig config = new MessageStoreConfig();
        config.setStorePathRootDir(args[0]);
        config.setStorePathCommitLog(args[0] + File.separator + "commitlog");
        config.setMappedFileSizeCommitLog(1 << 16);
        config.setMappedFileSizeConsumeQueue(2000);
        config.setMappedFileSizeConsumeQueueExt(1000);
        config.setEnableConsumeQueueExt(true);
        config.setMaxHashSlotNum(100);
        config.setMaxIndexNum(400);
        config.setFlushDiskType(FlushDiskType.ASYNC_FLUSH);
        config.setHaListenPort(0);
        BrokerConfig broker = new BrokerConfig();
        broker.setEnableCalcFilterBitMap(true);
        ConsumerFilterManager filters = new ConsumerFilterManager();
        config.setBitMapLengthConsumeQueueExt(filters.getBloomFilter().getM());
        for (String[] each : FILTERS) System.out.println(each[2] + " " + filters.register(each[0], each[1], each[2], "SQL92", 1));
        DefaultMessageStore store = new DefaultMessageStore(config, null, (topic, queue, offset, tags, time, bits, properties) -> { }, broker, new ConcurrentHashMap<>());
        store.getDispatcherList().addFirst(new CommitLogDispatcherCalcBitMap(broker, filters));
        if (!store.load()) throw new IllegalStateException("load");
        store.start();
        for (int n = 0; n < 400; n++) {
            MessageExtBrokerInner message = new MessageExtBrokerInner();
            message.setTopic(new String[] {"Many", "Many", "One", "None"}[random.nextInt(4)]);
            message.setQueueId(random.nextInt(2));
            message.setBody(new byte[random.nextInt(60) + 1]);
            if (random.nextInt(4) > 0) message.setTags(new String[] {"TagA", "TagB", "\u6807\u7b7e"}[random.nextInt(3)]);
            if (random.nextInt(3) > 0) message.putUserProperty("a", new String[] {"1", "2", "3", "4", "x", "2.5"}[random.nextInt(6)]);
            if (random.nextInt(3) > 0) message.putUserProperty("b", "" + random.nextInt(9));
            if (random.nextInt(3) > 0) message.putUserProperty("s", new String[] {"x", "y", "z"}[random.nextInt(3)]);
            if (random.nextInt(3) > 0) message.putUserProperty("t", "" + random.nextInt(9));
            message.setBornTimestamp(System.currentTimeMillis());
            message.setBornHost(new InetSocketAddress("127.0.0.1", 1));
            message.setStoreHost(new InetSocketAddress("127.0.0.1", 2));
            message.setTagsCode(MessageExtBrokerInner.tagsString2tagsCode(null, message.getTags()));
            message.setPropertiesString(MessageDecoder.messageProperties2String(message.getProperties()));
            if (!store.putMessage(message).isOk()) throw new IllegalStateException("put");
        }
        while (store.dispatchBehindBytes() > 0) Thread.sleep(10);
        Thread.sleep(500);
        Files.createDirectories(Paths.get(args[0], "config"));
        Files.write(Paths.get(args[0], "config", "consumerFilter.json"), filters.encode(true).getBytes(StandardCharsets.UTF_8));
        store.shutdown();
        System.exit(0);
    }
}
