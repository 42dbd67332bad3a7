import org.apache.rocketmq.client.apis.*;
import org.apache.rocketmq.client.apis.consumer.*;
import org.apache.rocketmq.client.apis.message.*;
import org.apache.rocketmq.client.apis.producer.*;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.atomic.*;

public class Grpc {
    public static void main(String[] a) throws Exception {
        ClientServiceProvider p = ClientServiceProvider.loadService();
        ClientConfiguration c = ClientConfiguration.newBuilder().setEndpoints("127.0.0.1:8081").enableSsl(false).setRequestTimeout(Duration.ofSeconds(5)).build();
        Producer pr = p.newProducerBuilder().setClientConfiguration(c).setTopics("Gn", "Gd", "Gf").build();
        for (int i = 0; i < 200; i++) pr.send(p.newMessageBuilder().setTopic("Gn").setTag(i % 3 == 0 ? "A" : "B").setKeys("k" + i).setBody(("n" + i).getBytes()).build());
        for (int i = 0; i < 40; i++) pr.send(p.newMessageBuilder().setTopic("Gf").setMessageGroup("g" + i % 4).setBody(("f" + i).getBytes()).build());
        for (int i = 0; i < 10; i++) pr.send(p.newMessageBuilder().setTopic("Gd").setDeliveryTimestamp(System.currentTimeMillis() + 3000 + i * 1000).setBody(("d" + i).getBytes()).build());
        AtomicInteger n = new AtomicInteger();
        PushConsumer pc = p.newPushConsumerBuilder().setClientConfiguration(c).setConsumerGroup("GPush")
            .setSubscriptionExpressions(Collections.singletonMap("Gn", new FilterExpression("*", FilterExpressionType.TAG)))
            .setMessageListener(m -> { int k = n.incrementAndGet(); if (k % 20 == 0) return ConsumeResult.FAILURE; if (k % 51 == 0) throw new RuntimeException("boom"); return ConsumeResult.SUCCESS; }).build();
        PushConsumer pf = p.newPushConsumerBuilder().setClientConfiguration(c).setConsumerGroup("GFifo")
            .setSubscriptionExpressions(Collections.singletonMap("Gf", new FilterExpression("*", FilterExpressionType.TAG)))
            .setMessageListener(m -> new Random().nextInt(8) == 0 ? ConsumeResult.FAILURE : ConsumeResult.SUCCESS).build();
        SimpleConsumer sc = p.newSimpleConsumerBuilder().setClientConfiguration(c).setConsumerGroup("GSimple").setAwaitDuration(Duration.ofSeconds(3))
            .setSubscriptionExpressions(Collections.singletonMap("Gn", new FilterExpression("A", FilterExpressionType.TAG))).build();
        List<MessageView> late = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            try {
                List<MessageView> ms = sc.receive(16, Duration.ofSeconds(10));
                int j = 0;
                for (MessageView m : ms) { j++; if (j % 4 == 0) late.add(m); else if (j % 4 == 1) sc.changeInvisibleDuration(m, Duration.ofSeconds(15)); else sc.ack(m); }
            } catch (Exception e) { System.out.println("receive " + e); }
        }
        Thread.sleep(12000);
        for (MessageView m : late) try { sc.ack(m); } catch (Exception e) { System.out.println("late ack " + e); }
        Thread.sleep(Long.parseLong(a[0]) * 1000);
        try { pr.send(p.newMessageBuilder().setTopic("NoSuch").setBody("x".getBytes()).build()); } catch (Exception e) { System.out.println("nosuch " + e); }
        sc.close(); pc.close(); pf.close(); pr.close();
        System.out.println("consumed " + n);
        System.exit(0);
    }
}
