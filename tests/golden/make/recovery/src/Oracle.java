import java.io.File;
import java.lang.reflect.*;
import java.net.*;
import java.nio.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;
import java.util.zip.Deflater;
import org.apache.rocketmq.common.message.*;
import org.apache.rocketmq.store.*;
import org.apache.rocketmq.store.config.MessageStoreConfig;

/** For tests/oracle: a store of every kind of message ("vary DIR MODE SEED COUNT MILLIS k=v.."), and what the store classes answer about one. */
class Oracle {
  static final String SCHEDULE = "SCHEDULE_TOPIC_XXXX", HALF = "RMQ_SYS_TRANS_HALF_TOPIC", RESOLVED = "RMQ_SYS_TRANS_OP_HALF_TOPIC";
  static final int HOUR_MS = 3600 * 1000;
  final Random chance;
  final boolean five;
  final boolean ipv6;
  boolean light;

  Oracle(long seed) throws Exception {
    chance = new Random(seed);
    five = Lab.tryHas();
    ipv6 = chance.nextInt(3) == 0;
  }

  // ---- writing

  /**
   * MODE clean: COUNT messages over about MILLIS, then shutdown. MODE halt: messages until MILLIS after the first
   * have passed, then Runtime.halt. Settings of the lab: `lab.first` number of the first message; `lab.light` some messages are in light
   * queues too; half-way `lab.expire` log files expire and the cleaners run, and the topic `lab.forget` is deleted.
   */
  static void write(String[] a) throws Exception {
    Map<String, String> kv = new LinkedHashMap<>();
    for (int i = 6; i < a.length; i++) { String[] p = a[i].split("=", 2); kv.put(p[0], p[1]); }
    Oracle oracle = new Oracle(Long.parseLong(a[3]));
    oracle.light = kv.remove("lab.light") != null;
    int first = Integer.parseInt(kv.getOrDefault("lab.first", "0")), expire = Integer.parseInt(kv.getOrDefault("lab.expire", "0"));
    String forget = kv.get("lab.forget");
    kv.keySet().removeIf(name -> name.startsWith("lab."));
    boolean halts = a[2].equals("halt");
    int count = Integer.parseInt(a[4]);
    long millis = Long.parseLong(a[5]), half = System.currentTimeMillis() + millis / 2;
    DefaultMessageStore store = Lab.open(a[1], kv);
    if (!store.load()) throw new Exception("load");
    store.start();
    boolean done = expire == 0 && forget == null;
    for (int i = 0; i < count || halts; i++) {
      if (!done && (halts ? System.currentTimeMillis() >= half : i >= count / 2)) {
        done = true;
        if (forget != null) forget(store, forget);
        if (expire > 0) clean(store, expire);
      }
      oracle.put(store, first + i);
      if (halts && i == 0) haltAfter(store, a[1], millis);
      Thread.sleep(oracle.pause(i, count, millis));
    }
    Thread.sleep(oracle.chance.nextInt(1500));
    store.shutdown();
    System.exit(0);
  }

  /** The oldest log files become older than they are kept, and the store's cleaners run once each. */
  static void clean(DefaultMessageStore store, int files) throws Exception {
    Lab.call(Lab.get(store.getCommitLog(), "mappedFileQueue"), "flush", 0);
    int number = 0;
    for (Object file : (Iterable<?>) Lab.call(Lab.get(store.getCommitLog(), "mappedFileQueue"), "getMappedFiles"))
      if (number++ < files) new File((String) Lab.call(file, "getFileName")).setLastModified(System.currentTimeMillis() - 3 * HOUR_MS);
    store.getMessageStoreConfig().setFileReservedTime(1);
    StringBuilder hours = new StringBuilder();
    for (int hour = 0; hour < 24; hour++) hours.append(hour).append(';');
    store.getMessageStoreConfig().setDeleteWhen(hours.toString());
    Lab.call(Lab.get(store, "cleanCommitLogService"), "run");
    Object queues;
    try { queues = Lab.get(store, "cleanConsumeQueueService"); } catch (NoSuchFieldException e) { queues = Lab.get(Lab.call(store, "getQueueStore"), "cleanConsumeQueueService"); }
    Lab.call(queues, "run");
  }

  /**
   * As `deleteTopic` has it: 4.x keeps the other topics, 5.x deletes this one. Dispatch has come to the log's end: a message that it reaches
   * after its topic was deleted begins a queue whose next messages are numbered from 0 again, and are in no queue.
   */
  static void forget(DefaultMessageStore store, String topic) throws Exception {
    do Thread.sleep(600); while (store.dispatchBehindBytes() > 0);
    Set<String> others = new HashSet<>();
    for (Object name : Lab.cqTable(store).keySet()) others.add((String) name);
    others.remove(topic);
    Lab.call(Lab.get(store, "brokerConfig"), "setAutoDeleteUnusedStats", false);
    try { Lab.call(store, "deleteTopics", new HashSet<>(Collections.singleton(topic))); } catch (NoSuchMethodException e) { Lab.call(store, "cleanUnusedTopic", others); }
  }

  /** How far each file set was forced to disk is written down just before the halt. */
  static void haltAfter(DefaultMessageStore store, String dir, long millis) {
    new Thread(() -> {
      try {
        Thread.sleep(millis);
        Files.write(Paths.get(dir + ".flushed.json"), Lab.js(Lab.flushed(store)).getBytes(StandardCharsets.UTF_8));
      } catch (Throwable e) { e.printStackTrace(); }
      Runtime.getRuntime().halt(9);
    }).start();
  }

  long pause(int i, int count, long millis) {
    long mean = count > 0 ? Math.max(1, millis / count) : 12;
    return chance.nextInt(8) == 0 ? chance.nextInt((int) (16 * mean)) : 0;
  }

  void put(DefaultMessageStore store, int i) throws Exception {
    PutMessageResult result = chance.nextInt(30) == 0 ? store.putMessages(batch(i)) : store.putMessage(message(i));
    if (!result.isOk()) System.err.println("put " + result);
  }

  MessageExtBatch batch(int i) throws Exception {
    List<Message> parts = new ArrayList<>();
    for (int j = 0; j < 2 + chance.nextInt(6); j++) {
      Message part = new Message("TopicB", "bt", ("batch" + j + "-" + i).getBytes(StandardCharsets.UTF_8));
      MessageAccessor.putProperty(part, "UNIQ_KEY", String.format("%032X", 1000000L + i * 16L + j));
      parts.add(part);
    }
    MessageExtBatch batch = new MessageExtBatch();
    batch.setTopic("TopicB");
    batch.setQueueId(chance.nextInt(2));
    batch.setBody(MessageDecoder.encodeMessages(parts));
    stamp(batch, false);
    return batch;
  }

  MessageExtBrokerInner message(int i) throws Exception {
    MessageExtBrokerInner m = new MessageExtBrokerInner();
    m.setTopic(topic());
    m.setQueueId(m.getTopic().equals("TopicA") ? chance.nextInt(4) : 0);
    m.setBody(body());
    m.setFlag(chance.nextInt(5));
    if (chance.nextBoolean()) m.setTags("tag" + chance.nextInt(4));
    if (chance.nextInt(3) > 0) m.setKeys("k" + i + (chance.nextBoolean() ? " x" + chance.nextInt(9) : ""));
    if (chance.nextInt(12) > 0) MessageAccessor.putProperty(m, "UNIQ_KEY", String.format("%032X", i + 1));
    if (chance.nextInt(6) == 0) MessageAccessor.putProperty(m, "shop", "caf\u00e9 \u6d88\u606f " + i);
    m.setSysFlag(transaction());
    if (m.getSysFlag() == 8) m.setPreparedTransactionOffset(chance.nextInt(100000));
    if (m.getTopic().equals(HALF)) half(m);
    if (m.getTopic().equals(RESOLVED)) resolved(m, i);
    if (light && m.getTopic().startsWith("Topic") && m.getSysFlag() == 0 && chance.nextInt(3) == 0) MessageAccessor.putProperty(m, "INNER_MULTI_DISPATCH", "%LMQ%one" + (chance.nextBoolean() ? ",%LMQ%two" : ""));
    if (chance.nextInt(20) == 0) compress(m);
    if (m.getSysFlag() == 0 && chance.nextInt(15) == 0) delay(m, 16 + chance.nextInt(3));
    m.setReconsumeTimes(m.getTopic().startsWith("%RETRY%") ? chance.nextInt(4) : 0);
    stamp(m, ipv6 && chance.nextInt(3) == 0);
    m.setTagsCode(m.getTags() == null ? 0 : m.getTags().hashCode());
    m.setPropertiesString(MessageDecoder.messageProperties2String(m.getProperties()));
    return m;
  }

  static void half(MessageExtBrokerInner m) {
    MessageAccessor.putProperty(m, "TRAN_MSG", "true");
    MessageAccessor.putProperty(m, "REAL_TOPIC", "TopicB");
    MessageAccessor.putProperty(m, "REAL_QID", "0");
  }

  /** The half messages that are resolved, by their queue offsets: one on 4.x, several on 5.x. */
  void resolved(MessageExtBrokerInner m, int i) {
    m.setSysFlag(0);
    m.setTags("d");
    m.setBody((five ? i + "," + (i + 1) + "," + (i + 2) : "" + i).getBytes(StandardCharsets.UTF_8));
  }

  String topic() {
    String[] topics = {"TopicA", "TopicA", "TopicA", "TopicA", "TopicB", "TopicB", "%RETRY%grp", "%RETRY%grp", HALF, RESOLVED};
    if (!five || chance.nextInt(40) > 0) return topics[chance.nextInt(topics.length)];
    StringBuilder longest = new StringBuilder("%RETRY%");
    while (longest.length() < 150) longest.append('g');
    return longest.toString();
  }

  byte[] body() {
    byte[] body = new byte[chance.nextInt(20) == 0 ? 0 : 1 + chance.nextInt(1400)];
    byte[] pattern = new byte[12];
    chance.nextBytes(pattern);
    for (int at = 0; at < body.length; at++) body[at] = pattern[at % 12];
    return body;
  }

  int transaction() {
    int kind = chance.nextInt(25);
    return kind < 3 ? 4 * (kind + 1) : 0;
  }

  void compress(MessageExtBrokerInner m) {
    if (m.getBody().length == 0) return;
    Deflater deflater = new Deflater();
    deflater.setInput(m.getBody());
    deflater.finish();
    byte[] out = new byte[m.getBody().length + 64];
    m.setBody(Arrays.copyOf(out, deflater.deflate(out)));
    m.setSysFlag(m.getSysFlag() | 1);
  }

  /** What a 5.x broker does before the store sees the message; the store of 4.9.8 does it itself. */
  void delay(MessageExtBrokerInner m, int level) {
    MessageAccessor.putProperty(m, "DELAY", String.valueOf(level));
    if (!five) return;
    MessageAccessor.putProperty(m, "REAL_TOPIC", m.getTopic());
    MessageAccessor.putProperty(m, "REAL_QID", String.valueOf(m.getQueueId()));
    m.setTopic(SCHEDULE);
    m.setQueueId(level - 1);
  }

  void stamp(MessageExt m, boolean six) throws Exception {
    m.setBornTimestamp(System.currentTimeMillis());
    m.setBornHost(host(six, 7, 4000));
    m.setStoreHost(host(six, 8, 10911));
    if (six) {
      Lab.tryCall(m, "setBornHostV6Flag");
      Lab.tryCall(m, "setStoreHostAddressV6Flag");
    }
  }

  static InetSocketAddress host(boolean six, int last, int port) throws Exception {
    byte[] address = six ? new byte[16] : new byte[]{10, 0, 0, 0};
    if (six) address[0] = (byte) 0xFD;
    address[address.length - 1] = (byte) last;
    return new InetSocketAddress(InetAddress.getByAddress(address), port);
  }

  // ---- asking

  /** What the open store answers: every record of each file up to the first that it refuses, keys, and offsets by time. */
  static Map<String, Object> ask(DefaultMessageStore store, long seed) throws Exception {
    Map<String, Object> answers = new LinkedHashMap<>();
    List<Map<String, Object>> messages = new ArrayList<>();
    answers.put("filesUpTo", records(store, messages));
    answers.put("messages", messages);
    Oracle oracle = new Oracle(seed);
    answers.put("queues", ends(store));
    answers.put("keys", messages.isEmpty() ? new ArrayList<>() : oracle.keys(store, messages));
    answers.put("times", messages.isEmpty() ? new ArrayList<>() : oracle.times(store, messages));
    return answers;
  }

  /** file -> position up to which its records could be read one after another. */
  static Map<String, Object> records(DefaultMessageStore store, List<Map<String, Object>> messages) throws Exception {
    Map<String, Object> upTo = new LinkedHashMap<>();
    Object queue = Lab.get(store.getCommitLog(), "mappedFileQueue");
    for (Object file : (Iterable<?>) Lab.call(queue, "getMappedFiles")) {
      long base = ((Number) Lab.call(file, "getFileFromOffset")).longValue();
      ByteBuffer bytes = ((MappedByteBuffer) Lab.call(file, "getMappedByteBuffer")).duplicate();
      bytes.clear();
      upTo.put(Paths.get((String) Lab.call(file, "getFileName")).getFileName().toString(), recordsOf(store, bytes, base, messages));
    }
    return upTo;
  }

  static int recordsOf(DefaultMessageStore store, ByteBuffer bytes, long base, List<Map<String, Object>> messages) throws Exception {
    int at = 0;
    while (at + 91 < bytes.limit()) {
      int size = bytes.getInt(at), magic = bytes.getInt(at + 4);
      boolean known = magic == 0xDAA320A7 || Lab.tryHas() && magic == 0xDAA320AB;
      if (!known || size < 91 || size > bytes.limit() - at || bytes.getLong(at + 28) != base + at) break;
      ByteBuffer one = bytes.duplicate();
      one.position(at);
      one.limit(at + size);
      one = one.slice();
      Object checked = check(store, one.duplicate());
      if (!(Boolean) Lab.call(checked, "isSuccess") || (Integer) Lab.call(checked, "getMsgSize") != size) break;
      Map<String, Object> message = message(one, magic);
      if (message == null) break;
      messages.add(message);
      at += size;
    }
    return at;
  }

  static Object check(DefaultMessageStore store, ByteBuffer one) throws Exception {
    for (Object[] arguments : new Object[][]{{one, true, false, true}, {one, true, true}}) {
      try { return Lab.call(store.getCommitLog(), "checkMessageAndReturnSize", arguments); } catch (NoSuchMethodException e) { }
    }
    throw new NoSuchMethodException("checkMessageAndReturnSize");
  }

  static Map<String, Object> message(ByteBuffer one, int magic) throws Exception {
    MessageExt e = MessageDecoder.decode(one.duplicate(), true, false);
    if (e == null) return null;
    Map<String, Object> m = new LinkedHashMap<>();
    m.put("topic", e.getTopic());
    m.put("queueId", e.getQueueId());
    m.put("queueOffset", e.getQueueOffset());
    m.put("physicalOffset", e.getCommitLogOffset());
    m.put("size", e.getStoreSize());
    m.put("magic", magic);
    m.put("flag", e.getFlag());
    m.put("sysFlag", e.getSysFlag());
    m.put("bodyCRC", e.getBodyCRC());
    m.put("bornTimestamp", e.getBornTimestamp());
    m.put("bornHost", e.getBornHost().toString());
    m.put("storeTimestamp", e.getStoreTimestamp());
    m.put("storeHost", e.getStoreHost().toString());
    m.put("reconsumeTimes", e.getReconsumeTimes());
    m.put("preparedTransactionOffset", e.getPreparedTransactionOffset());
    m.put("bodyLength", e.getBody() == null ? 0 : e.getBody().length);
    m.put("body", Lab.sha(e.getBody() == null ? new byte[0] : e.getBody()));
    m.put("properties", new TreeMap<>(e.getProperties() == null ? new HashMap<>() : e.getProperties()));
    m.put("msgId", e.getMsgId());
    return m;
  }

  /** "topic/queue" -> least and greatest queue offset. */
  static Map<String, Object> ends(DefaultMessageStore store) {
    Map<String, Object> queues = new TreeMap<>();
    for (Map.Entry<?, ?> topic : Lab.cqTable(store).entrySet())
      for (Map.Entry<?, ?> entry : ((Map<?, ?>) topic.getValue()).entrySet()) {
        ConsumeQueue queue = (ConsumeQueue) entry.getValue();
        Map<String, Object> told = new LinkedHashMap<>();
        told.put("min", queue.getMinOffsetInQueue());
        told.put("max", queue.getMaxOffsetInQueue());
        queues.put(topic.getKey() + "/" + entry.getKey(), told);
      }
    return queues;
  }

  List<Object> keys(DefaultMessageStore store, List<Map<String, Object>> messages) throws Exception {
    List<Object> asked = new ArrayList<>();
    Object index = Lab.get(store, "indexService");
    for (int i = 0; i < 40; i++) {
      Map<String, Object> of = messages.get(chance.nextInt(messages.size()));
      Map<?, ?> properties = (Map<?, ?>) of.get("properties");
      String keys = (String) properties.get("KEYS"), unique = (String) properties.get("UNIQ_KEY");
      String key = i % 10 == 0 ? "missing" + i : keys != null && i % 3 > 0 ? keys.split(" ")[chance.nextInt(keys.split(" ").length)] : unique;
      if (key == null) continue;
      long at = (Long) of.get("storeTimestamp");
      long begin = i % 2 == 0 ? 0 : at - chance.nextInt(4000), end = i % 2 == 0 ? Long.MAX_VALUE : at + chance.nextInt(4000);
      int most = 1 + chance.nextInt(32);
      Map<String, Object> line = new LinkedHashMap<>();
      line.put("topic", of.get("topic"));
      line.put("key", key);
      line.put("maxNum", most);
      line.put("begin", begin);
      line.put("end", end);
      try {
        line.put("phyOffsets", Lab.call(Lab.call(index, "queryOffset", of.get("topic"), key, most, begin, end), "getPhyOffsets"));
        line.put("messages", found(store, (String) of.get("topic"), key, most, begin, end));
      } catch (Throwable e) { line.put("error", String.valueOf(e.getCause() == null ? e : e.getCause())); }
      asked.add(line);
    }
    return asked;
  }

  /** Physical offsets of the messages that a query by key answers with, as they say themselves. */
  static List<Object> found(DefaultMessageStore store, String topic, String key, int most, long begin, long end) throws Exception {
    List<Object> offsets = new ArrayList<>();
    QueryMessageResult result = store.queryMessage(topic, key, most, begin, end);
    for (ByteBuffer one : result.getMessageBufferList()) offsets.add(one.getLong(one.position() + 28));
    result.release();
    return offsets;
  }

  List<Object> times(DefaultMessageStore store, List<Map<String, Object>> messages) throws Exception {
    List<Object> asked = new ArrayList<>();
    List<String> queues = new ArrayList<>();
    for (Map.Entry<?, ?> topic : Lab.cqTable(store).entrySet()) for (Object id : ((Map<?, ?>) topic.getValue()).keySet()) queues.add(topic.getKey() + "/" + id);
    Collections.sort(queues);
    for (int i = 0; i < 60 && !queues.isEmpty(); i++) {
      String queue = queues.get(chance.nextInt(queues.size())), topic = queue.substring(0, queue.lastIndexOf('/'));
      int id = Integer.parseInt(queue.substring(queue.lastIndexOf('/') + 1));
      long at = (Long) messages.get(chance.nextInt(messages.size())).get("storeTimestamp") + chance.nextInt(5) - 2;
      if (i < 4) at = i < 2 ? 1L : Long.MAX_VALUE / 4;
      Map<String, Object> line = new LinkedHashMap<>();
      line.put("topic", topic);
      line.put("queueId", id);
      line.put("timestamp", at);
      try {
        line.put("offset", store.getOffsetInQueueByTime(topic, id, at));
        for (Method method : store.getClass().getMethods())
          if (method.getName().equals("getOffsetInQueueByTime") && method.getParameterCount() == 4)
            for (Object boundary : method.getParameterTypes()[3].getEnumConstants()) line.put("offset" + boundary, method.invoke(store, topic, id, at, boundary));
      } catch (Throwable e) { line.put("error", String.valueOf(e.getCause() == null ? e : e.getCause())); }
      asked.add(line);
    }
    return asked;
  }
}
