import java.io.*;
import java.nio.file.*;
import java.util.*;
import org.apache.rocketmq.broker.BrokerController;
import org.apache.rocketmq.common.*;
import org.apache.rocketmq.remoting.netty.*;
import org.apache.rocketmq.store.config.MessageStoreConfig;

/** Refused BROKER_CONF…: starts, one after the other, as BrokerStartup#createBrokerController has it: shutdown where initialize is false, not where it throws. */
public class Refused {
  public static void main(String[] a) throws Exception {
    for (String conf : a) { System.out.println("CONF " + conf); start(conf); }
    Runtime.getRuntime().halt(0);
  }
  static void start(String conf) throws Exception {
    Properties p = new Properties();
    try (InputStream i = Files.newInputStream(Paths.get(conf))) { p.load(i); }
    BrokerConfig bc = new BrokerConfig(); NettyServerConfig bs = new NettyServerConfig(); NettyClientConfig nc = new NettyClientConfig(); MessageStoreConfig sc = new MessageStoreConfig();
    for (Object o : new Object[]{bc, bs, nc, sc}) MixAll.properties2Object(p, o);
    BrokerController b = new BrokerController(bc, bs, nc, sc);
    try {
      System.out.println("INITIALIZE " + b.initialize());
      System.out.println("MEMORY " + memory(b));
      try { b.shutdown(); System.out.println("SHUTDOWN done"); } catch (Throwable e) { System.out.println("SHUTDOWN " + e.getClass().getSimpleName()); }
    } catch (Throwable e) { System.out.println("INITIALIZE " + e.getClass().getSimpleName()); System.out.println("MEMORY " + memory(b)); }
  }
  /** How many mappings of static topics and request modes are known, and the time up to which timers count as delivered; null where the part was not made. */
  static String memory(BrokerController b) {
    return "{\"mappings\": " + size(b, "topicQueueMappingManager", "topicQueueMappingTable") + ", \"modes\": " + size(b, "queryAssignmentProcessor", "messageRequestModeManager", "messageRequestModeMap")
      + ", \"delivered_to_ms\": " + walk(b, "timerCheckpoint", "lastReadTimeMs") + "}";
  }
  static Object size(Object o, String... path) { Object m = walk(o, path); return m == null ? null : ((Map<?, ?>) m).size(); }
  static Object walk(Object o, String... path) {
    for (String name : path) { if (o == null) return null; o = field(o, name); }
    return o;
  }
  static Object field(Object o, String name) {
    for (Class<?> c = o.getClass(); c != null; c = c.getSuperclass())
      try { java.lang.reflect.Field f = c.getDeclaredField(name); f.setAccessible(true); return f.get(o); } catch (ReflectiveOperationException e) { }
    return null;
  }
}
