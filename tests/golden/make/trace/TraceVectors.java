import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.zip.GZIPOutputStream;
import org.apache.rocketmq.client.trace.TraceBean;
import org.apache.rocketmq.client.trace.TraceContext;
import org.apache.rocketmq.client.trace.TraceDataEncoder;
import org.apache.rocketmq.client.trace.TraceType;
import org.apache.rocketmq.common.message.MessageType;

/**
 * Bodies of trace messages as a release's TraceDataEncoder writes them, whole and damaged, what its own decoder reads of
 * them (null where it throws), and what was encoded. Usage: COUNT SEED OUT.jsonl.gz
 */
public class TraceVectors {
    static final String[] TEXTS = {"a", "Orders", "TagA", "k1 k2", "Pub", "SubAfter", "true", "7", "", null, "a b", "é中", "{\"k\":1}", "127.0.0.1:10911"};
    static final String[] NOISE = {"\u0001", "\u0002", "x", "\u0001\u0001", "-", "9", "Pub\u0001", "", "\u0001SubAfter\u0001"};
    static final String[] NAMES = {"traceType", "timeStamp", "regionId", "groupName", "requestId", "costTime", "success", "contextCode"};
    static final String[] BEAN_NAMES = {"topic", "msgId", "offsetMsgId", "tags", "keys", "storeHost", "clientHost", "retryTimes",
        "bodyLength", "msgType", "transactionId", "transactionState", "fromTransactionCheck"};
    static Random random;

    static String text() { return TEXTS[random.nextInt(TEXTS.length)]; }
    static String word() { String text = text(); return text == null || text.isEmpty() ? "w" : text; }
    static String id() { return String.format("%016X%016X", random.nextLong(), random.nextLong()); }

    static Method named(Object of, String name) {
        for (Method method : of.getClass().getMethods()) if (method.getName().equals(name)) return method;
        return null;
    }

    static void set(Object of, String name, Object value) throws Exception {
        Method setter = named(of, "set" + Character.toUpperCase(name.charAt(0)) + name.substring(1));
        if (setter != null) setter.invoke(of, value);
    }

    static Object get(Object of, String name) throws Exception {
        String ending = Character.toUpperCase(name.charAt(0)) + name.substring(1);
        Method getter = named(of, "get" + ending);
        if (getter == null) getter = named(of, "is" + ending);
        return getter == null ? null : getter.invoke(of);
    }

    static TraceBean bean(TraceType type) throws Exception {
        TraceBean bean = new TraceBean();
        bean.setTopic(word());
        bean.setMsgId(random.nextInt(8) == 0 ? id() + "," + id() : id());
        bean.setOffsetMsgId(random.nextInt(5) == 0 ? null : id());
        bean.setTags(text());
        String keys = text();
        bean.setKeys(type == TraceType.SubBefore && "".equals(keys) ? null : keys);
        bean.setStoreHost("10.0.0." + random.nextInt(256) + ":10911");
        bean.setClientHost("10.0.1." + random.nextInt(256) + "@77");
        bean.setRetryTimes(random.nextInt(17));
        bean.setBodyLength(random.nextInt(1 << 22));
        String[] sent = {"Normal_Msg", "Trans_Msg_Half", "Delay_Msg"};
        bean.setMsgType(MessageType.valueOf(type == TraceType.Pub ? sent[random.nextInt(3)] : "Trans_msg_Commit"));
        set(bean, "transactionId", random.nextInt(4) == 0 ? null : id());
        Method state = named(bean, "setTransactionState");
        if (state != null) state.invoke(bean, state.getParameterTypes()[0].getEnumConstants()[random.nextInt(3)]);
        set(bean, "fromTransactionCheck", random.nextBoolean());
        return bean;
    }

    static TraceContext context() throws Exception {
        TraceContext context = new TraceContext();
        TraceType type = TraceType.values()[random.nextInt(TraceType.values().length)];
        context.setTraceType(type);
        context.setTimeStamp(1795334879473L + random.nextInt(1 << 30));
        context.setRegionId(random.nextInt(6) == 0 ? word() : "DefaultRegion");
        context.setGroupName(word());
        context.setCostTime(random.nextInt(100000));
        context.setSuccess(random.nextInt(4) > 0);
        context.setRequestId(id());
        context.setContextCode(random.nextInt(5));
        boolean cloud = random.nextInt(3) == 0;
        Method channel = named(context, "setAccessChannel");
        if (channel != null) channel.invoke(context, Enum.valueOf((Class) channel.getParameterTypes()[0], cloud ? "CLOUD" : "LOCAL"));
        List<TraceBean> beans = new ArrayList<>();
        int count = type == TraceType.SubBefore || type == TraceType.SubAfter ? 1 + random.nextInt(3) : 1;
        while (count-- > 0) beans.add(bean(type));
        context.setTraceBeans(beans);
        return context;
    }

    static String json(Object value) {
        if (value == null) return "null";
        if (value instanceof Number || value instanceof Boolean) return String.valueOf(value);
        StringBuilder out = new StringBuilder("\"");
        for (char c : String.valueOf(value).toCharArray()) {
            if (c < 32 || c > 126 || c == '"' || c == '\\') out.append(String.format("\\u%04x", (int) c));
            else out.append(c);
        }
        return out.append('"').toString();
    }

    static String json(List<TraceContext> contexts) throws Exception {
        if (contexts == null) return "null";
        List<String> rows = new ArrayList<>();
        for (TraceContext context : contexts) {
            for (TraceBean bean : context.getTraceBeans()) {
                List<String> members = new ArrayList<>();
                for (String name : NAMES) members.add(json(name) + ":" + json(get(context, name)));
                for (String name : BEAN_NAMES) members.add(json(name) + ":" + json(get(bean, name)));
                rows.add("{" + String.join(",", members) + "}");
            }
        }
        return "[" + String.join(",", rows) + "]";
    }

    static List<TraceContext> read(String body) {
        try {
            return TraceDataEncoder.decoderFromTraceDataString(body);
        } catch (Exception e) {
            return null;
        }
    }

    public static void main(String[] args) throws Exception {
        random = new Random(Long.parseLong(args[1]));
        try (PrintWriter out = new PrintWriter(new OutputStreamWriter(
                new GZIPOutputStream(Files.newOutputStream(Paths.get(args[2]))), StandardCharsets.UTF_8))) {
            for (int number = Integer.parseInt(args[0]); number > 0; number--) {
                List<TraceContext> wrote = new ArrayList<>();
                StringBuilder body = new StringBuilder();
                for (int count = random.nextInt(5); count >= 0; count--) {
                    TraceContext context = context();
                    wrote.add(context);
                    body.append(TraceDataEncoder.encoderFromContextBean(context).getTransData());
                }
                String whole = body.toString();
                out.println("{\"body\":" + json(whole) + ",\"wrote\":" + json(wrote) + ",\"read\":" + json(read(whole)) + "}");
                int at = random.nextInt(whole.length()), to = Math.min(whole.length(), at + random.nextInt(12));
                String hurt = whole.substring(0, at) + NOISE[random.nextInt(NOISE.length)] + whole.substring(to);
                out.println("{\"body\":" + json(hurt) + ",\"wrote\":null,\"read\":" + json(read(hurt)) + "}");
            }
        }
    }
}
