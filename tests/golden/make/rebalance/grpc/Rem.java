import org.apache.rocketmq.client.consumer.*; import org.apache.rocketmq.client.consumer.listener.*;
public class Rem { public static void main(String[] a) throws Exception {
 DefaultMQPushConsumer c = new DefaultMQPushConsumer(a[0]); c.setNamesrvAddr("127.0.0.1:9876"); c.setInstanceName(a[1]); c.subscribe(a[2], a[5]); c.setConsumeThreadMin(1); c.setConsumeThreadMax(1); c.setPullThresholdForQueue(50);
 long ms = Long.parseLong(a[3]); int[] n = {0};
 c.registerMessageListener((MessageListenerConcurrently)(l, x) -> { try { Thread.sleep(ms); } catch (Exception e) {} n[0]++; return n[0] % 30 == 0 ? ConsumeConcurrentlyStatus.RECONSUME_LATER : ConsumeConcurrentlyStatus.CONSUME_SUCCESS; });
 c.start(); Thread.sleep(Long.parseLong(a[4]) * 1000); c.shutdown(); System.out.println("consumed " + n[0]); System.exit(0); } }
