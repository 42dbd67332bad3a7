import java.io.*;
import java.nio.file.*;
import java.util.*;
import org.apache.rocketmq.broker.BrokerController;
import org.apache.rocketmq.common.*;
import org.apache.rocketmq.remoting.netty.*;
import org.apache.rocketmq.store.config.MessageStoreConfig;

/** Refused BROKER_CONF: a start as BrokerStartup#createBrokerController has it: shutdown where initialize is false, not where it throws. */
public class Refused {
  public static void main(String[] a) throws Exception {
    Properties p = new Properties();
    try (InputStream i = Files.newInputStream(Paths.get(a[0]))) { p.load(i); }
    BrokerConfig bc = new BrokerConfig(); NettyServerConfig bs = new NettyServerConfig(); NettyClientConfig nc = new NettyClientConfig(); MessageStoreConfig sc = new MessageStoreConfig();
    for (Object o : new Object[]{bc, bs, nc, sc}) MixAll.properties2Object(p, o);
    BrokerController b = new BrokerController(bc, bs, nc, sc);
    try {
      System.out.println("INITIALIZE " + b.initialize());
      try { b.shutdown(); System.out.println("SHUTDOWN done"); } catch (Throwable e) { System.out.println("SHUTDOWN " + e.getClass().getSimpleName()); }
    } catch (Throwable e) { System.out.println("INITIALIZE " + e.getClass().getSimpleName()); }
    Runtime.getRuntime().halt(0);
  }
}
