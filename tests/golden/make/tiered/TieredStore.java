import java.io.File;
import java.net.InetSocketAddress;
import java.util.Properties;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.rocketmq.common.BrokerConfig;
import org.apache.rocketmq.remoting.Configuration;
import org.apache.rocketmq.common.message.MessageAccessor;
import org.apache.rocketmq.common.message.MessageConst;
import org.apache.rocketmq.common.message.MessageDecoder;
import org.apache.rocketmq.common.message.MessageExtBrokerInner;
import org.apache.rocketmq.store.DefaultMessageStore;
import org.apache.rocketmq.store.config.MessageStoreConfig;
import org.apache.rocketmq.store.plugin.MessageStorePluginContext;
import org.apache.rocketmq.store.stats.BrokerStatsManager;
import org.apache.rocketmq.tieredstore.TieredMessageStore;

/** A store with tiered storage in a folder, as TieredMessageStore and PosixFileSegment write it. Usage: ROOT SEGMENTS SEED MILLIS */
public class TieredStore {
    public static void main(String[] args) throws Exception {
        Random random = new Random(Long.parseLong(args[2]));
        MessageStoreConfig config = new MessageStoreConfig();
        config.setStorePathRootDir(args[0]);
        config.setStorePathCommitLog(args[0] + File.separator + "commitlog");
        config.setMappedFileSizeCommitLog(1 << 16);
        config.setMappedFileSizeConsumeQueue(2000);
        config.setMaxHashSlotNum(100);
        config.setMaxIndexNum(400);
        config.setHaListenPort(0);
        BrokerConfig broker = new BrokerConfig();
        broker.setBrokerName("broker-a");
        broker.setBrokerClusterName("LabCluster");
        Properties said = new Properties();
        said.setProperty("brokerName", "broker-a");
        said.setProperty("brokerClusterName", "LabCluster");
        said.setProperty("storePathRootDir", args[0]);
        said.setProperty("tieredStoreFilePath", args[1]);
        said.setProperty("tieredBackendServiceProvider", "org.apache.rocketmq.tieredstore.provider.PosixFileSegment");
        said.setProperty("tieredStoreCommitLogMaxSize", "6000");
        said.setProperty("tieredStoreConsumeQueueMaxSize", "1000");
        said.setProperty("tieredStoreIndexFileMaxHashSlotNum", "50");
        said.setProperty("tieredStoreIndexFileMaxIndexNum", "200");
        said.setProperty("tieredStoreGroupCommit", "false");
        BrokerStatsManager stats = new BrokerStatsManager(broker);
        DefaultMessageStore inner = new DefaultMessageStore(config, stats, (topic, queue, offset, tags, time, bits, properties) -> { }, broker, new ConcurrentHashMap<>());
        Configuration configuration = new Configuration(LoggerFactoryOf.logger());
        configuration.registerConfig(said);
        MessageStorePluginContext context = new MessageStorePluginContext(config, stats, (topic, queue, offset, tags, time, bits, properties) -> { }, broker, configuration);
        TieredMessageStore store = new TieredMessageStore(context, inner);
        if (!store.load()) throw new IllegalStateException("load");
        store.start();
        for (int n = 0; n < 300; n++) {
            MessageExtBrokerInner message = new MessageExtBrokerInner();
            message.setTopic(new String[] {"Orders", "Orders", "Bills"}[random.nextInt(3)]);
            message.setQueueId(random.nextInt(2));
            message.setBody(new byte[random.nextInt(60) + 1]);
            message.setTags(new String[] {"TagA", "TagB", "\u6807\u7b7e"}[random.nextInt(3)]);
            message.setKeys("k" + random.nextInt(50));
            MessageAccessor.putProperty(message, MessageConst.PROPERTY_UNIQ_CLIENT_MESSAGE_ID_KEYIDX, String.format("%032X", n));
            message.setBornTimestamp(System.currentTimeMillis());
            message.setBornHost(new InetSocketAddress("127.0.0.1", 1));
            message.setStoreHost(new InetSocketAddress("127.0.0.1", 2));
            message.setTagsCode(MessageExtBrokerInner.tagsString2tagsCode(null, message.getTags()));
            message.setPropertiesString(MessageDecoder.messageProperties2String(message.getProperties()));
            if (!store.putMessage(message).isOk()) throw new IllegalStateException("put");
        }
        Thread.sleep(Long.parseLong(args[3]));
        for (String topic : new String[] {"Orders", "Bills"}) for (int queue = 0; queue < 2; queue++)
            System.out.println(topic + " " + queue + " " + inner.getMinOffsetInQueue(topic, queue) + " " + inner.getMaxOffsetInQueue(topic, queue) + " tiered "
                + store.getFlatFileStore().getFlatFile(new org.apache.rocketmq.common.message.MessageQueue(topic, "broker-a", queue)).getConsumeQueueCommitOffset());
        store.shutdown();
        System.exit(0);
    }

    /** The logger type of Configuration differs by release. */
    static class LoggerFactoryOf { static org.apache.rocketmq.logging.org.slf4j.Logger logger() { return org.apache.rocketmq.logging.org.slf4j.LoggerFactory.getLogger("lab"); } }
}
