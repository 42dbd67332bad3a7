import java.lang.reflect.Constructor;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.rocketmq.common.TopicConfig;
import org.apache.rocketmq.store.DefaultMessageStore;

/** A store whose queues are in RocksDB: its class, and what its database says of every queue. */
class Rocks {
  static final int MAX_AT = 6;

  /** The store class that BrokerController#initializeMessageStore takes for this storeType, and its constructor. */
  static Constructor<?>[] constructors(String storeType) throws ClassNotFoundException {
    boolean rocks = "defaultRocksDB".equalsIgnoreCase(storeType);
    return (rocks ? Class.forName("org.apache.rocketmq.store.RocksDBMessageStore") : DefaultMessageStore.class).getConstructors();
  }

  /** The topics that the lab's messages are of, which RocksDB's queues are truncated by before 5.3.2; `batches`: the one of queue.type=BatchCQ. */
  static ConcurrentHashMap<String, TopicConfig> topics(String batches) throws Exception {
    ConcurrentHashMap<String, TopicConfig> topics = new ConcurrentHashMap<>();
    StringBuilder longest = new StringBuilder("%RETRY%");
    while (longest.length() < 150) longest.append('g');
    for (String name : new String[]{"TopicA", "TopicB", "%RETRY%grp", longest.toString()}) topics.put(name, new TopicConfig(name, 4, 4, 6));
    if (batches != null) Lab.call(topics.get(batches), "setAttributes", new java.util.HashMap<>(java.util.Collections.singletonMap("queue.type", "BatchCQ")));
    return topics;
  }

  /** The store's RocksDBConsumeQueueStore, null where its queues are in files; of combined stores the one that answers. */
  static Object queues(DefaultMessageStore store) throws Exception {
    Object queues = Lab.tryCall(store, "getQueueStore");
    if (queues != null && queues.getClass().getSimpleName().equals("CombineConsumeQueueStore")) queues = Lab.get(queues, "currentReadStore");
    return queues != null && queues.getClass().getSimpleName().equals("RocksDBConsumeQueueStore") ? queues : null;
  }

  /** What is dispatched waits for another thread since 5.3.2, and for a batch to be full before. */
  static void settle(Object queues) throws Exception {
    Object group;
    try { group = Lab.get(queues, "groupCommitService"); } catch (NoSuchFieldException e) { return; }
    for (int quiet = 0; quiet < 5; Thread.sleep(20)) {
      boolean empty = ((java.util.Collection<?>) Lab.get(group, "buffer")).isEmpty() && ((List<?>) Lab.get(group, "requests")).isEmpty();
      quiet = empty ? quiet + 1 : 0;
    }
  }

  /** "topic/queue": limits as the broker answers, and its units from the first to the last: [place in the log, size]. */
  static Map<String, Object> snap(Object queues, boolean units) throws Exception {
    settle(queues);
    Map<String, Object> found = new TreeMap<>();
    for (Object[] key : keys(queues)) {
      String topic = (String) key[0];
      int id = (Integer) key[1];
      Map<String, Object> told = new LinkedHashMap<>();
      long least = (Long) Lab.call(queues, "getMinOffsetInQueue", topic, id), most = (Long) Lab.call(queues, "getMaxOffsetInQueue", topic, id);
      told.put("min", least);
      told.put("max", most);
      told.put("maxPhysicOffset", key[2]);
      if (units) told.put("units", units(queues, topic, id, least, most));
      found.put(topic + "/" + id, told);
    }
    return found;
  }

  static List<Object> units(Object queues, String topic, int id, long least, long most) throws Exception {
    List<Object> units = new ArrayList<>();
    for (long at = least; at < most; at++) {
      ByteBuffer unit = (ByteBuffer) Lab.call(queues, "get", topic, id, at);
      if (unit != null) units.add(Arrays.asList(at, unit.getLong(0), unit.getInt(8)));
    }
    return units;
  }

  /** Topic, queue and the place of the last message, of every `max` key. */
  static List<Object[]> keys(Object queues) throws Exception {
    List<Object[]> found = new ArrayList<>();
    try (AutoCloseable at = (AutoCloseable) Lab.call(Lab.get(queues, "rocksDBStorage"), "seekOffsetCF")) {
      for (Lab.call(at, "seekToFirst"); (Boolean) Lab.call(at, "isValid"); Lab.call(at, "next")) {
        ByteBuffer key = ByteBuffer.wrap((byte[]) Lab.call(at, "key"));
        byte[] value = (byte[]) Lab.call(at, "value");
        byte[] topic = new byte[key.getInt(0)];
        key.position(5);
        key.get(topic);
        byte[] which = new byte[3];
        key.position(MAX_AT + topic.length);
        key.get(which);
        if (value.length == 16 && new String(which, StandardCharsets.US_ASCII).equals("max"))
          found.add(new Object[]{new String(topic, StandardCharsets.UTF_8), key.getInt(MAX_AT + topic.length + 4), ByteBuffer.wrap(value).getLong(0)});
      }
    }
    return found;
  }

  /** How far the database says that messages were dispatched. */
  static Object dispatchedTo(Object queues) throws Exception {
    Object table = Lab.get(queues, "rocksDBConsumeQueueOffsetTable");
    return table.getClass().getMethod("getMaxPhyOffset").invoke(table);
  }
}
