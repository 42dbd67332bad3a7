import java.lang.reflect.*;
import java.lang.reflect.Proxy;
import java.nio.file.*;
import java.util.*;
import java.util.stream.*;
import org.apache.rocketmq.common.*;
import org.apache.rocketmq.store.*;
import org.apache.rocketmq.store.config.*;

/**
 * Passes VERSION SEED DIR: a store of compacted topics goes through compaction passes. Before each: compaction/ as it is
 * then (DIR/phase-N), and what pulls get; after each: the queue offsets that are left.
 * Passes VERSION SEED DIR load: what load() makes of every DIR/cases/NAME (compaction/ alone), and what pulls get then.
 */
public class Passes extends O {
  static final String[] TOPICS = {"Latest", "a_b"};

  public static void main(String[] a) throws Exception {
    begin(a, "passes");
    Map<String, Object> told = new TreeMap<>();
    if (a.length > 3) {
      List<Path> cases;
      try (Stream<Path> listed = Files.list(out.resolve("cases"))) { cases = listed.sorted().collect(Collectors.toList()); }
      for (Path one : cases) told.put(one.getFileName().toString(), loaded(one));
      write(out.resolve("loads.json"), told);
    } else {
      root = out.resolve("store");
      st = opened(root);
      told.put("settings", settings());
      told.put("load", st.load());
      st.start();
      List<Object> phases = new ArrayList<>();
      for (int phase = 0; phase < 4; phase++) {
        put(phase);
        for (int i = 0; i < 40 && behind(st) > 0; i++) Thread.sleep(250);
        Thread.sleep(1500);
        call(compactionStore(), "flush", 0);
        call(field(compactionStore(), "positionMgr"), "persist");
        copy(root.resolve("compaction"), out.resolve("phase-" + phase + "/compaction"));
        Map<String, Object> queues = new TreeMap<>();
        for (Map.Entry<?, ?> e : table().entrySet()) {
          Object before = pulls(e.getValue());
          call(e.getValue(), "doCompaction");
          queues.put(e.getKey().toString(), m("pulls", before, "left", left(e.getValue())));
        }
        phases.add(queues);
      }
      told.put("phases", phases);
      st.shutdown();
      write(out.resolve("passes.json"), told);
    }
    Runtime.getRuntime().halt(0);
  }

  static Map<String, Object> settings() {
    return m("compactionMappedFileSize", "4600", "compactionCqMappedFileSize", one ? "920" : "1380", "compactionThreadNum", "1", "maxOffsetMapSize", "2400");
  }

  static DefaultMessageStore opened(Path store) throws Exception {
    MessageStoreConfig config = new MessageStoreConfig();
    Properties p = new Properties();
    p.putAll(settings());
    p.put("storePathRootDir", store.toString());
    p.put("storePathCommitLog", store + "/commitlog");
    p.put("mappedFileSizeCommitLog", "1048576");
    p.put("mappedFileSizeConsumeQueue", "6000");
    p.put("maxHashSlotNum", "500");
    p.put("maxIndexNum", "2000");
    p.put("haListenPort", "10999");
    p.put("timerWheelEnable", "false");
    p.put("compactionScheduleInternal", "36000000");
    MixAll.properties2Object(p, config);
    java.util.concurrent.ConcurrentHashMap<String, TopicConfig> topics = new java.util.concurrent.ConcurrentHashMap<>();
    for (String topic : TOPICS) {
      TopicConfig one = new TopicConfig(topic, 2, 2);
      one.setAttributes(new HashMap<>(Collections.singletonMap("cleanup.policy", "COMPACTION")));
      topics.put(topic, one);
    }
    for (Constructor<?> c : DefaultMessageStore.class.getConstructors()) {
      Class<?>[] types = c.getParameterTypes();
      Object[] given = new Object[types.length];
      for (int i = 0; i < types.length; i++) {
        Class<?> t = types[i];
        if (t == MessageStoreConfig.class) given[i] = config;
        else if (t.getSimpleName().equals("BrokerStatsManager")) given[i] = stats(t);
        else if (t == BrokerConfig.class) given[i] = new BrokerConfig();
        else if (t.isInterface() && !t.getName().startsWith("java")) given[i] = Proxy.newProxyInstance(Passes.class.getClassLoader(), new Class[] {t}, (o, mm, x) -> null);
        else given[i] = topics;
      }
      return (DefaultMessageStore) c.newInstance(given);
    }
    throw new IllegalStateException();
  }

  /** Messages with few keys; some without a body, some with another form of key, some without; the last topic has many keys, in one phase more than a pass has room for. */
  static void put(int phase) throws Exception {
    for (int n = 0; n < (phase == 2 ? 640 : 160); n++) {
      String topic = TOPICS[R.nextInt(2)];
      boolean many = topic.equals("a_b");
      String[] odd = {"", " ", "two keys", "Schl\u00fcssel", "\u952e", null};
      String key = R.nextInt(9) == 0 ? odd[R.nextInt(odd.length)] : "k" + R.nextInt(many && one ? 400 : 15);
      byte[] body = new byte[R.nextInt(5) == 0 ? 0 : 1 + R.nextInt(200)];
      int queue = phase == 3 && topic.equals("Latest") ? 0 : R.nextInt(2);
      if (phase == 0 && topic.equals("Latest") && queue == 1) body = new byte[0];
      call(st, "putMessage", inner(topic, queue, R.nextBoolean() ? "TagA" : null, key, body, "UNIQ_KEY", String.format("%032X", phase * 1000 + n)));
    }
  }

  static Object compactionStore() throws Exception {
    try { return field(st, "compactionStore"); } catch (NoSuchFieldException e) { return call(st, "getCompactionStore"); }
  }

  static Map<?, ?> table() throws Exception { return new TreeMap<>((Map<?, ?>) field(compactionStore(), "compactionLogTable")); }

  /** [offset, status, next begin offset, first message's queue offset or null, messages] */
  static Object pulls(Object log) throws Exception {
    Object cq = call(log, "getCQ");
    long most = ((Number) call(cq, "getMaxOffsetInQueue")).longValue();
    List<Object> all = new ArrayList<>();
    for (long offset = 0; offset < most + 3; offset += 1 + R.nextInt(4)) {
      GetMessageResult r = (GetMessageResult) call(log, "getMessage", "G", field(log, "topic"), field(log, "queueId"), offset, 8, 4 << 20);
      List<Long> offsets = r.getMessageQueueOffset();
      all.add(Arrays.asList(offset, r.getStatus().toString(), r.getNextBeginOffset(), offsets.isEmpty() ? null : offsets.get(0), offsets.size()));
      r.release();
    }
    return all;
  }

  static List<Object> left(Object log) throws Exception {
    List<Object> offsets = new ArrayList<>();
    for (Object file : (List<?>) call(field(call(log, "getCQ"), "mappedFileQueue"), "getMappedFiles")) {
      org.apache.rocketmq.store.logfile.MappedFile one = (org.apache.rocketmq.store.logfile.MappedFile) file;
      SelectMappedBufferResult held = one.selectMappedBuffer(0);
      if (held == null) continue;
      java.nio.ByteBuffer b = held.getByteBuffer().slice();
      for (int i = 0; i + 46 <= b.limit(); i += 46) if (b.getLong(i) >= 0 && b.getInt(i + 8) > 0) offsets.add(b.getLong(i + 28));
      held.release();
    }
    return offsets;
  }

  static Object loaded(Path store) throws Exception {
    st = opened(store);
    boolean load = st.load();
    Map<String, Object> queues = new TreeMap<>();
    if (load) for (Map.Entry<?, ?> e : table().entrySet()) {
      Object cq = call(e.getValue(), "getCQ"), pulls;
      try { pulls = pulls(e.getValue()); } catch (Throwable t) { pulls = null; }
      queues.put(e.getKey().toString(), m("min", call(cq, "getMinOffsetInQueue"), "max", call(cq, "getMaxOffsetInQueue"), "logEnd", call(call(e.getValue(), "getLog"), "getMaxOffset"), "pulls", pulls));
    }
    st.shutdown();
    return m("load", load, "queues", queues);
  }

  static void copy(Path from, Path to) throws Exception {
    try (Stream<Path> walked = Files.walk(from)) {
      for (Path p : (Iterable<Path>) walked::iterator) {
        Path target = to.resolve(from.relativize(p).toString());
        if (Files.isDirectory(p)) Files.createDirectories(target); else Files.copy(p, target);
      }
    }
  }
}
