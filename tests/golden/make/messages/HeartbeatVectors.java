import java.io.PrintWriter;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.proxy.processor.channel.ChannelProtocolType;
import org.apache.rocketmq.proxy.processor.channel.RemoteChannel;
import org.apache.rocketmq.proxy.service.sysmessage.HeartbeatSyncerData;
import org.apache.rocketmq.proxy.service.sysmessage.HeartbeatType;
import org.apache.rocketmq.remoting.protocol.LanguageCode;
import org.apache.rocketmq.remoting.protocol.heartbeat.ConsumeType;
import org.apache.rocketmq.remoting.protocol.heartbeat.MessageModel;
import org.apache.rocketmq.remoting.protocol.filter.FilterAPI;
import org.apache.rocketmq.remoting.protocol.heartbeat.SubscriptionData;

/** Heartbeats that a proxy tells other proxies of, as its own classes write them, and what these read. Usage: OUT.jsonl JSON_PACKAGE */
public class HeartbeatVectors {
    static Class<?> JSON;
    static PrintWriter out;

    static String json(Object value) throws Exception { return (String) JSON.getMethod("toJSONString", Object.class).invoke(null, value); }

    static void put(HeartbeatSyncerData data, long at) throws Exception {
        data.setLastUpdateTimestamp(at);
        byte[] body = json(data).getBytes(StandardCharsets.UTF_8);
        HeartbeatSyncerData again = (HeartbeatSyncerData) JSON.getMethod("parseObject", String.class, Class.class).invoke(null, new String(body, StandardCharsets.UTF_8), HeartbeatSyncerData.class);
        Map<String, Object> read = new LinkedHashMap<>();
        for (Method m : HeartbeatSyncerData.class.getMethods()) {
            if (!m.getName().startsWith("get") || m.getParameterCount() != 0 || m.getName().equals("getClass")) continue;
            Object value = m.invoke(again);
            read.put(m.getName().substring(3), value instanceof Enum ? ((Enum<?>) value).name() : value);
        }
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("body", Base64.getEncoder().encodeToString(body));
        row.put("read", read);
        out.println(json(row));
    }

    public static void main(String[] a) throws Exception {
        JSON = Class.forName(a[1] + ".JSON");
        out = new PrintWriter(a[0], "UTF-8");
        long at = 1795338000000L;
        String[] clients = {"host@1@0@a", "\u4e3b\u673a@2@0@b", "10.0.0.9@3#4"};
        for (int i = 0; i < 12; i++) {
            boolean here = i % 4 != 3;
            Set<SubscriptionData> subscriptions = new LinkedHashSet<>(Arrays.asList(FilterAPI.build("Orders", i % 3 == 0 ? "A || B" : "*", null), FilterAPI.build("%RETRY%G" + i % 2, "*", null)));
            if (i % 5 == 4) subscriptions.add(FilterAPI.build("Sql", "a > 1 AND b = 'x'", "SQL92"));
            for (SubscriptionData each : subscriptions) each.setSubVersion(at + i);
            String channel = new RemoteChannel("10.0.0.1", "10.0.0." + (20 + i) + ":4000", "10.0.0.1:8081", i % 2 == 0 ? ChannelProtocolType.GRPC_V2 : ChannelProtocolType.REMOTING, i % 2 == 0 ? "{\"clientType\":\"PUSH_CONSUMER\"}" : null).encode();
            HeartbeatSyncerData data = new HeartbeatSyncerData(here ? HeartbeatType.REGISTER : HeartbeatType.UNREGISTER, clients[i % 3], LanguageCode.values()[i % 5], 400 + i, "G" + i % 2, here ? (i % 2 == 0 ? ConsumeType.CONSUME_PASSIVELY : ConsumeType.CONSUME_ACTIVELY) : null, here ? MessageModel.CLUSTERING : null, here ? ConsumeFromWhere.CONSUME_FROM_LAST_OFFSET : null, "10.0.0.1%8080%8081", channel);
            if (here) data.setSubscriptionDataSet(subscriptions);
            put(data, at + 1000L * i);
        }
        out.close();
    }
}
