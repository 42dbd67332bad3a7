import org.apache.rocketmq.client.apis.*;
import org.apache.rocketmq.client.apis.consumer.*;
import org.apache.rocketmq.client.apis.message.*;
import org.apache.rocketmq.client.apis.producer.*;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.atomic.*;
public class Drv {
  public static void main(String[] a) throws Exception {
    ClientServiceProvider p = ClientServiceProvider.loadService();
    ClientConfiguration c = ClientConfiguration.newBuilder().setEndpoints("127.0.0.1:8081").enableSsl(false).setRequestTimeout(Duration.ofSeconds(5)).build();
    String kind = a[0], group = a[1], topic = a[2]; long secs = Long.parseLong(a[3]); long end = System.currentTimeMillis() + secs * 1000;
    AtomicInteger n = new AtomicInteger();
    if (kind.equals("send")) {
      Producer pr = p.newProducerBuilder().setClientConfiguration(c).setTopics("Gn", "Gf").build();
      Producer tx = p.newProducerBuilder().setClientConfiguration(c).setTopics("Gt").setTransactionChecker(m -> m.getKeys().iterator().next().hashCode() % 2 == 0 ? TransactionResolution.COMMIT : TransactionResolution.UNKNOWN).build();
      for (int i = 0; System.currentTimeMillis() < end; i++) {
        try { pr.send(p.newMessageBuilder().setTopic("Gn").setTag(i % 3 == 0 ? "A" : "B").setKeys("k" + i).setBody(("n" + i).getBytes()).build());
        if (i % 10 == 0) pr.send(p.newMessageBuilder().setTopic("Gf").setMessageGroup("g" + i % 4).setBody(("f" + i).getBytes()).build());
        if (i % 50 == 0) { Transaction t = tx.beginTransaction(); tx.send(p.newMessageBuilder().setTopic("Gt").setKeys("t" + i).setBody(("t" + i).getBytes()).build(), t); if (i % 100 == 0) t.commit(); }
        } catch (Exception e) { System.out.println("send " + e); }
        Thread.sleep(20);
      }
      pr.close(); tx.close();
    } else if (kind.equals("push")) {
      PushConsumer pc = p.newPushConsumerBuilder().setClientConfiguration(c).setConsumerGroup(group)
        .setSubscriptionExpressions(Collections.singletonMap(topic, new FilterExpression("*", FilterExpressionType.TAG)))
        .setMessageListener(m -> { int k = n.incrementAndGet(); if (k % 40 == 0) return ConsumeResult.FAILURE; return ConsumeResult.SUCCESS; }).build();
      System.out.println(System.currentTimeMillis() + " started");
      Thread.sleep(secs * 1000); pc.close();
    } else {
      SimpleConsumer sc = p.newSimpleConsumerBuilder().setClientConfiguration(c).setConsumerGroup(group).setAwaitDuration(Duration.ofSeconds(3))
        .setSubscriptionExpressions(Collections.singletonMap(topic, new FilterExpression("A", FilterExpressionType.TAG))).build();
      List<MessageView> late = new ArrayList<>();
      while (System.currentTimeMillis() < end) {
        try { int j = 0; for (MessageView m : sc.receive(16, Duration.ofSeconds(10))) { n.incrementAndGet(); j++; if (j % 4 == 0) late.add(m); else if (j % 4 == 1) sc.changeInvisibleDuration(m, Duration.ofSeconds(15)); else sc.ack(m); } 
          if (late.size() > 40) for (MessageView m : late.subList(0, 20)) try { sc.ack(m); } catch (Exception e) { System.out.println("late ack " + e); } 
          if (late.size() > 40) late = new ArrayList<>(late.subList(20, late.size())); Thread.sleep(1500);
        } catch (Exception e) { System.out.println("receive " + e); }
      }
      sc.close();
    }
    System.out.println(System.currentTimeMillis() + " done " + n); System.exit(0);
  }
}
