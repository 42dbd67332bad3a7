import java.lang.reflect.*;
import java.nio.ByteBuffer;
import java.nio.file.*;
import java.util.*;
import org.apache.rocketmq.common.message.*;
import org.apache.rocketmq.store.*;

/** For tests/oracle: TimerMessageStore of one version writes timers ("timers DIR MODE SEED COUNT k=v.."), and says what it makes of damaged copies ("recover" with `lab.timers`). */
class Timers {
  static final String PACKAGE = "org.apache.rocketmq.store.timer.", TOPIC = "rmq_sys_wheel_timer";
  static final int LONGEST_CHAIN = 10000, SLOT = 32;
  static final long HOUR_MS = 3600 * 1000;

  /** As BrokerController#initializeMessageStore has it. */
  static Object attach(DefaultMessageStore store, String root) throws Exception {
    Object check = Class.forName(PACKAGE + "TimerCheckpoint").getConstructor(String.class).newInstance(root + "/config/timercheck");
    Object metrics = Class.forName(PACKAGE + "TimerMetrics").getConstructor(String.class).newInstance(root + "/config/timermetrics");
    Constructor<?> made = Class.forName(PACKAGE + "TimerMessageStore").getConstructors()[0];
    Object timers = made.newInstance(store, store.getMessageStoreConfig(), check, metrics, Lab.stats());
    Lab.call(store, "setTimerMessageStore", timers);
    return timers;
  }

  static int precisionMs(DefaultMessageStore store) throws Exception {
    return (Integer) Lab.call(store.getMessageStoreConfig(), "getTimerPrecisionMs");
  }

  /** MODE clean: COUNT messages, then shutdown; halt: then Runtime.halt. Half of the messages are timers: due soon, in minutes, or beyond the window of the wheel; some are deleted again. */
  static void write(String[] a) throws Exception {
    Map<String, String> kv = new LinkedHashMap<>();
    for (int i = 5; i < a.length; i++) { String[] p = a[i].split("=", 2); kv.put(p[0], p[1]); }
    Random chance = new Random(Long.parseLong(a[3]));
    DefaultMessageStore store = Lab.open(a[1], kv);
    Object timers = attach(store, a[1]);
    if (!store.load() || !(Boolean) Lab.call(timers, "load")) throw new Exception("load");
    store.start();
    Lab.call(timers, "start", true);
    List<String[]> set = new ArrayList<>();
    for (int i = 0; i < Integer.parseInt(a[4]); i++) {
      if (chance.nextInt(2) == 0) store.putMessage(plain(chance, i));
      else if (!set.isEmpty() && chance.nextInt(12) == 0) delete(store, set.get(chance.nextInt(set.size())), i);
      else set.add(timer(store, chance, i));
      Thread.sleep(chance.nextInt(40));
    }
    Thread.sleep(chance.nextInt(3000));
    if (a[2].equals("halt")) Runtime.getRuntime().halt(9);
    Lab.call(timers, "shutdown");
    store.shutdown();
    System.exit(0);
  }

  static MessageExtBrokerInner plain(Random chance, int i) throws Exception {
    MessageExtBrokerInner m = new MessageExtBrokerInner();
    m.setTopic("TopicA");
    m.setBody(new byte[1 + chance.nextInt(300)]);
    MessageAccessor.putProperty(m, "UNIQ_KEY", String.format("%032X", i + 1));
    return stamped(m);
  }

  static MessageExtBrokerInner stamped(MessageExtBrokerInner m) throws Exception {
    m.setBornTimestamp(System.currentTimeMillis());
    m.setBornHost(Oracle.host(false, 7, 4000));
    m.setStoreHost(Oracle.host(false, 8, 10911));
    m.setPropertiesString(MessageDecoder.messageProperties2String(m.getProperties()));
    return m;
  }

  /** As HookUtils#transformTimerMessage has it; the due time and the unique key. */
  static String[] timer(DefaultMessageStore store, Random chance, int i) throws Exception {
    MessageExtBrokerInner m = plain(chance, i);
    long[] in = {500 + chance.nextInt(3000), 60000 + chance.nextInt(600000), 2 * HOUR_MS + chance.nextInt(1000), 5 * HOUR_MS};
    long due = (System.currentTimeMillis() + in[chance.nextInt(4)]) / precisionMs(store) * precisionMs(store);
    put(store, m, due);
    return new String[]{"" + due, m.getProperty("UNIQ_KEY")};
  }

  static void delete(DefaultMessageStore store, String[] timer, int i) throws Exception {
    MessageExtBrokerInner m = plain(new Random(i), i);
    boolean byTopic = false;
    for (Method method : Class.forName(PACKAGE + "TimerMessageStore").getMethods()) byTopic |= method.getName().equals("buildDeleteKey");
    MessageAccessor.putProperty(m, "TIMER_DEL_UNIQKEY", byTopic ? "TopicA+" + timer[1] : timer[1]);
    if (Long.parseLong(timer[0]) > System.currentTimeMillis() + 2 * precisionMs(store)) put(store, m, Long.parseLong(timer[0]));
  }

  static void put(DefaultMessageStore store, MessageExtBrokerInner m, long due) throws Exception {
    MessageAccessor.putProperty(m, "TIMER_OUT_MS", "" + due);
    MessageAccessor.putProperty(m, "REAL_TOPIC", m.getTopic());
    MessageAccessor.putProperty(m, "REAL_QID", "0");
    m.setTopic(TOPIC);
    store.putMessage(stamped(m));
  }

  /** Loads store and timers, and starts neither: what a start would deliver is told by the slots, the log and the queue. */
  static Map<String, Object> recover(String root, Map<String, String> kv) throws Exception {
    Map<String, Object> told = new LinkedHashMap<>();
    kv.remove("lab.timers");
    DefaultMessageStore store = Lab.open(root, kv);
    Object timers;
    try { timers = attach(store, root); } catch (InvocationTargetException e) { told.put("refused", String.valueOf(e.getCause())); return told; }
    try {
      boolean load = store.load();
      Lab.STARTED.add(Paths.get(root).getFileName().toString());
      told.put("load", load);
      if (load) told.put("loadTimers", Lab.call(timers, "load"));
    } catch (InvocationTargetException e) { told.put("error", String.valueOf(e.getCause())); return told; }
    if (Boolean.TRUE.equals(told.get("loadTimers"))) {
      long from = (Long) Lab.get(timers, "currReadTimeMs");
      told.put("readMs", from);
      told.put("queueOffset", Lab.get(timers, "currQueueOffset"));
      told.put("flushed", Lab.call(Lab.call(Lab.get(timers, "timerLog"), "getMappedFileQueue"), "getFlushedWhere"));
      told.put("reached", reached(timers, from, precisionMs(store)));
    }
    Lab.tryCall(Lab.get(timers, "timerWheel"), "shutdown", false);
    store.shutdown();
    return told;
  }

  /** What reading throws is logged by the service that delivers, and leaves the unit without a message. */
  static boolean isMessage(Object timers, long offset, int length) throws Exception {
    try { return Lab.call(timers, "getMessageByCommitOffset", offset, length) != null; } catch (InvocationTargetException e) { return false; }
  }

  /** Every unit that TimerMessageStore#dequeue would come to from now on: its place, magic, due time, and where its message is, if it can be read. */
  static List<Object> reached(Object timers, long from, int precisionMs) throws Exception {
    Object wheel = Lab.get(timers, "timerWheel"), log = Lab.get(timers, "timerLog");
    ByteBuffer inUse = (ByteBuffer) Lab.get(wheel, "byteBuffer");
    int slots = 2 * (Integer) Lab.get(wheel, "slotsTotal"), size = (Integer) Lab.get(timers, "timerLogFileSize");
    Method slotOf = wheel.getClass().getMethod("getSlot", long.class);
    Field time = Lab.field(slotOf.getReturnType(), "timeMs");
    List<Object> units = new ArrayList<>();
    for (int i = 0; i < slots; i++) {
      if (inUse.getLong((int) ((from / precisionMs + i) % slots) * SLOT) == 0) continue;
      Object slot = slotOf.invoke(wheel, from + (long) i * precisionMs);
      if (time.getLong(slot) == -1) continue;
      long at = (Long) Lab.get(slot, "lastPos");
      for (int n = 0; at != -1 && n < LONGEST_CHAIN; n++) {
        Object found = Lab.call(log, "getWholeBuffer", at);
        if (found == null) break;
        try {
          ByteBuffer unit = (ByteBuffer) Lab.call(found, "getByteBuffer");
          unit.position((int) (at % size));
          unit.getInt();
          long previous = unit.getLong();
          int magic = unit.getInt();
          long due = unit.getLong() + unit.getInt(), offset = unit.getLong();
          int length = unit.getInt();
          units.add(Arrays.asList(at, magic, due, offset, length, isMessage(timers, offset, length)));
          at = previous;
        } catch (IllegalArgumentException | java.nio.BufferUnderflowException e) { at = -1; } finally { Lab.call(found, "release"); }
      }
    }
    return units;
  }
}
