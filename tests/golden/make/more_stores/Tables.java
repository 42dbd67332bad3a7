import java.io.*; import java.nio.file.*; import java.util.*;
import org.apache.rocketmq.broker.BrokerController; import org.apache.rocketmq.common.*; import org.apache.rocketmq.remoting.netty.*; import org.apache.rocketmq.store.config.MessageStoreConfig;
/** Tables BROKER_CONF: what the managers of topics, groups and offsets have after their load(), one line of JSON. */
public class Tables {
  public static void main(String[] a) throws Exception {
    Properties p = new Properties(); try (InputStream i = Files.newInputStream(Paths.get(a[0]))) { p.load(i); }
    BrokerConfig bc = new BrokerConfig(); NettyServerConfig bs = new NettyServerConfig(); NettyClientConfig nc = new NettyClientConfig(); MessageStoreConfig sc = new MessageStoreConfig();
    for (Object o : new Object[]{bc, bs, nc, sc}) MixAll.properties2Object(p, o);
    BrokerController b = new BrokerController(bc, bs, nc, sc); StringBuilder out = new StringBuilder("TABLES {");
    for (String[] m : new String[][]{{"topics", "getTopicConfigManager", "getTopicConfigTable"}, {"offsets", "getConsumerOffsetManager", "getOffsetTable"}, {"groups", "getSubscriptionGroupManager", "getSubscriptionGroupTable"}}) {
      Object manager = b.getClass().getMethod(m[1]).invoke(b); String loaded;
      try { loaded = "" + manager.getClass().getMethod("load").invoke(manager); } catch (Throwable e) { loaded = "\"" + (e.getCause() == null ? e : e.getCause()).getClass().getSimpleName() + "\""; }
      Map<?, ?> table = (Map<?, ?>) manager.getClass().getMethod(m[2]).invoke(manager); List<String> names = new ArrayList<>();
      for (Map.Entry<?, ?> e : new TreeMap<Object, Object>(table).entrySet()) names.add("\"" + e.getKey() + "\"" + (m[0].equals("offsets") ? ":\"" + new TreeMap<>((Map<?, ?>) e.getValue()) + "\"" : ":1"));
      out.append(out.length() > 8 ? "," : "").append("\"" + m[0] + "\":{\"load\":" + loaded + ",\"rows\":{" + String.join(",", names) + "}}"); }
    System.out.println(out + "}"); Runtime.getRuntime().halt(0); }
}
