import java.nio.file.*; import java.util.*;
import org.apache.rocketmq.client.consumer.*; import org.apache.rocketmq.client.producer.*; import org.apache.rocketmq.common.message.*; import org.apache.rocketmq.store.*;
/** Meta <version> <seed> <dir>: 5.4.0 on, all tables in config/metadata (useSingleRocksDBForAllConfigs); truth/broker_tables.json is what the managers hold. */
public class Meta extends O {
  public static void main(String[] a) throws Exception { begin(a, "meta"); namesrv(); Properties f = props("storeType", "defaultRocksDB"); sizes(f, 65536, 2000, 100, 400); b = broker("broker-a", 10911, root, f, props("useSingleRocksDBForAllConfigs", "true")); st = (DefaultMessageStore) b.getMessageStore(); String[] ts = {"Meta-A", "Meta-B"}; topic(b, ts[0], 3); topic(b, ts[1], 1, "+message.type", "NORMAL"); register();
    DefaultMQProducer p = ready(new DefaultMQProducer("PG")); routes(p, ts); DefaultMQPushConsumer c = push("MG", ts[0], "*", false, false, x -> true), d = push("MG-2", ts[1], "TagA", true, false, x -> true); c.start(); d.start(); for (int n = 0; n < 60; n++) p.send(new Message(ts[n % 2], "TagA", "k" + n, ("body " + n).getBytes())); Thread.sleep(9000); c.shutdown(); d.shutdown(); p.shutdown(); Thread.sleep(3000); tables(tr); b.shutdown(); nsc.shutdown(); Runtime.getRuntime().halt(0); }
}
