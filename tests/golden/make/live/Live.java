import java.net.InetAddress;
import java.nio.file.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import org.apache.rocketmq.broker.BrokerController;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.*;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.*;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.*;
import org.apache.rocketmq.common.namesrv.NamesrvConfig;
import org.apache.rocketmq.namesrv.NamesrvController;
import org.apache.rocketmq.remoting.netty.*;
import org.apache.rocketmq.store.DefaultMessageStore;
import org.apache.rocketmq.store.config.MessageStoreConfig;

/**
 * Live STORE RATE SECONDS KEEP_SECONDS: a name server, a broker, producers and a consumer in one process.
 * Sends RATE numbered messages a second in batches through the client, one delayed message in a thousand; small files,
 * so that log, queues and index roll; log files older than KEEP_SECONDS are deleted by the broker's own method. Prints
 * a line of counts every five seconds, and at the end, after a clean shutdown, one that begins with "end".
 */
public class Live {
    static final int TOPICS = 4, QUEUES = 8, BATCH = 20, SENDERS = 4, DELAYED_EVERY = 50;
    static final String NAME_SERVER = "127.0.0.1:9876";
    static final AtomicLong next = new AtomicLong(), sent = new AtomicLong(), delayed = new AtomicLong();
    static final Queue<Long> doubtful = new ConcurrentLinkedQueue<>();
    static volatile boolean sending = true;

    public static void main(String[] a) {
        try { run(a); System.exit(0); } catch (Throwable failed) { failed.printStackTrace(); System.exit(1); }
    }

    static void run(String[] a) throws Exception {
        Path store = Paths.get(a[0]).toAbsolutePath();
        long rate = Long.parseLong(a[1]), seconds = Long.parseLong(a[2]), keepMs = 1000 * Long.parseLong(a[3]);
        NettyServerConfig nameNetty = new NettyServerConfig(); nameNetty.setListenPort(9876);
        NamesrvConfig nameConfig = new NamesrvConfig(); nameConfig.setKvConfigPath(store.resolveSibling("kv.json").toString());
        NamesrvController names = new NamesrvController(nameConfig, nameNetty); names.initialize(); names.start();
        BrokerController broker = broker(store);
        DefaultMessageStore files = (DefaultMessageStore) broker.getMessageStore();
        for (int t = 0; t < TOPICS; t++) broker.getTopicConfigManager().updateTopicConfig(new TopicConfig("Live" + t, QUEUES, QUEUES));
        broker.registerBrokerAll(true, false, true);
        Thread.sleep(2000);
        DefaultMQPushConsumer consumer = consumer();
        DefaultMQProducer producer = new DefaultMQProducer("LiveProducers");
        producer.setNamesrvAddr(NAME_SERVER); producer.setRetryTimesWhenSendFailed(0); producer.setSendMsgTimeout(20000); producer.start();
        for (int t = 0; t < TOPICS; t++) awaitRoute(producer, broker, "Live" + t);
        ScheduledExecutorService expiry = Executors.newSingleThreadScheduledExecutor();
        expiry.scheduleWithFixedDelay(() -> files.getCommitLog().deleteExpiredFile(keepMs, 100, 120_000, false, 10), 5, 5, TimeUnit.SECONDS);
        long began = System.nanoTime(), until = began + seconds * 1_000_000_000L;
        List<Thread> senders = new ArrayList<>();
        for (int s = 0; s < SENDERS; s++) { int number = s; Thread one = new Thread(() -> send(producer, number, rate, began)); one.start(); senders.add(one); }
        while (System.nanoTime() < until) { Thread.sleep(5000); tell(began, files); }
        sending = false;
        for (Thread one : senders) one.join();
        tell(began, files);
        double sendSeconds = (System.nanoTime() - began) / 1e9;
        Thread.sleep(5000); // the delayed ones come
        while (files.dispatchBehindBytes() > 0) Thread.sleep(100);
        expiry.shutdown(); expiry.awaitTermination(1, TimeUnit.MINUTES);
        consumer.shutdown(); producer.shutdown(); broker.shutdown(); names.shutdown();
        System.out.printf(Locale.ROOT, "end %d %d %d %.1f %s%n", next.get(), sent.get(), delayed.get(), sendSeconds, doubtful);
    }

    static void awaitRoute(DefaultMQProducer producer, BrokerController broker, String topic) throws Exception {
        while (true) try { producer.fetchPublishMessageQueues(topic); return; } catch (MQClientException notYet) { broker.registerBrokerAll(true, false, true); Thread.sleep(1000); }
    }

    static void tell(long began, DefaultMessageStore files) {
        System.out.printf(Locale.ROOT, "now %.1f %d %d %d%n", (System.nanoTime() - began) / 1e9, sent.get(), files.getMinPhyOffset(), files.getMaxPhyOffset());
        System.out.flush();
    }

    static BrokerController broker(Path store) throws Exception {
        Properties p = new Properties();
        p.put("storePathRootDir", store.toString()); p.put("storePathCommitLog", store + "/commitlog"); p.put("haListenPort", "10912");
        p.put("mappedFileSizeCommitLog", "16777216"); p.put("mappedFileSizeConsumeQueue", "40000"); p.put("maxHashSlotNum", "100000"); p.put("maxIndexNum", "200000");
        MessageStoreConfig stored = new MessageStoreConfig(); MixAll.properties2Object(p, stored);
        Properties b = new Properties();
        b.put("brokerName", "live"); b.put("brokerClusterName", "Live"); b.put("brokerIP1", "127.0.0.1"); b.put("namesrvAddr", NAME_SERVER);
        BrokerConfig config = new BrokerConfig(); MixAll.properties2Object(b, config);
        NettyServerConfig netty = new NettyServerConfig(); netty.setListenPort(10911);
        BrokerController broker = new BrokerController(config, netty, new NettyClientConfig(), stored);
        if (!broker.initialize()) throw new Error("the broker does not start");
        broker.start();
        return broker;
    }

    static DefaultMQPushConsumer consumer() throws Exception {
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer("LiveReaders");
        consumer.setNamesrvAddr(NAME_SERVER); consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET); consumer.subscribe("Live0", "*");
        consumer.setConsumeThreadMin(1); consumer.setConsumeThreadMax(1);
        consumer.registerMessageListener((MessageListenerConcurrently) (ms, cx) -> ConsumeConcurrentlyStatus.CONSUME_SUCCESS);
        consumer.start();
        return consumer;
    }

    static Message message(String topic, long number, Random draw) {
        byte[] body = new byte[50 + draw.nextInt(300)]; draw.nextBytes(body);
        Message one = new Message(topic, "Tag" + number % 5, "k" + number, body);
        one.putUserProperty("n", "" + number);
        return one;
    }

    static void send(DefaultMQProducer producer, int sender, long rate, long began) {
        Random draw = new Random(sender);
        for (long batches = 1; sending; batches++) {
            String topic = "Live" + draw.nextInt(TOPICS);
            List<Long> numbers = new ArrayList<>();
            try {
                if (batches % DELAYED_EVERY == 0) {
                    long number = next.getAndIncrement(); numbers.add(number);
                    Message one = message(topic, number, draw); one.setDelayTimeLevel(1);
                    producer.send(one); delayed.incrementAndGet();
                } else {
                    List<Message> batch = new ArrayList<>();
                    for (int i = 0; i < BATCH; i++) { long number = next.getAndIncrement(); numbers.add(number); batch.add(message(topic, number, draw)); }
                    producer.send(batch);
                }
                sent.addAndGet(numbers.size());
            } catch (Exception failed) {
                doubtful.addAll(numbers); System.err.println(failed);
            }
            long due = began + (long) (batches * BATCH * SENDERS * 1e9 / rate), early = due - System.nanoTime();
            if (early > 0) try { Thread.sleep(early / 1_000_000, (int) (early % 1_000_000)); } catch (InterruptedException ended) { return; }
        }
    }
}
