import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.zip.GZIPOutputStream;

/** Random bodies as RocketMQ's own classes write them, and what these classes read from them. Usage: COUNT SEED OUT.jsonl.gz JSON_PACKAGE */
public class BodyVectors {
    static final String[] TEXTS = {"T", "\u4e3b\u9898", "%RETRY%g_t", "a\"b", "back\\slash", "tab\tline\n", "", "broker-a", "{}", "a,b:[c]"};
    static Random random;
    static PrintWriter out;

    /** The library that the release's own classes are written for: fastjson up to 5.3.x, then fastjson2. */
    static Class<?> JSON;

    static String json(Object value) throws Exception { return (String) JSON.getMethod("toJSONString", Object.class).invoke(null, value); }
    static String text() { return TEXTS[random.nextInt(TEXTS.length)]; }
    static long number() { return new long[] {0, 1, -1, 7, 300, 4000000000L, Long.MAX_VALUE, Long.MIN_VALUE}[random.nextInt(8)]; }
    static int small() { return new int[] {0, 1, -1, 7, Integer.MAX_VALUE, Integer.MIN_VALUE}[random.nextInt(6)]; }

    static Object filled(String name) throws Exception {
        Object body = Class.forName(name).getConstructor().newInstance();
        for (Method m : body.getClass().getMethods()) {
            if (!m.getName().startsWith("set") || m.getParameterCount() != 1 || random.nextInt(8) == 0) continue;
            Class<?> type = m.getParameterTypes()[0];
            if (type == long.class) m.invoke(body, number());
            else if (type == int.class) m.invoke(body, small());
            else if (type == byte.class) m.invoke(body, (byte) small());
            else if (type == boolean.class) m.invoke(body, random.nextBoolean());
            else if (type == String.class) m.invoke(body, text());
            else if (type == List.class) m.invoke(body, m.getName().contains("Diff") ? ints() : longs());
            else m.invoke(body, filled(type.getName()));
        }
        return body;
    }

    static List<Integer> ints() { List<Integer> all = new ArrayList<>(); for (int n = random.nextInt(5); n > 0; n--) all.add(small()); return all; }
    static List<Long> longs() { List<Long> all = new ArrayList<>(); for (int n = random.nextInt(5); n > 0; n--) all.add(number()); return all; }

    static Map<String, Object> read(Object body) throws Exception {
        Map<String, Object> all = new LinkedHashMap<>();
        for (Method m : body.getClass().getMethods()) {
            String name = m.getName();
            if (!name.matches("(get|is)[A-Z].*") || m.getParameterCount() != 0 || name.equals("getClass")) continue;
            Object value = m.invoke(body);
            all.put(name.replaceFirst("get|is", ""), value != null && value.getClass().getName().startsWith("org.apache.rocketmq") ? read(value) : value);
        }
        return all;
    }

    static void vector(String kind, String name) throws Exception {
        String json = json(filled(name));
        Object back = JSON.getMethod("parseObject", String.class, Class.class).invoke(null, json, Class.forName(name));
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("kind", kind);
        row.put("body", Base64.getEncoder().encodeToString(json.getBytes(StandardCharsets.UTF_8)));
        row.put("read", read(back));
        out.println(json(row));
    }

    static String there(String... names) {
        for (String name : names) try { Class.forName(name); return name; } catch (ClassNotFoundException e) { }
        return null;
    }

    public static void main(String[] a) throws Exception {
        JSON = Class.forName(there(a[3] + ".JSON"));
        random = new Random(Long.parseLong(a[1]));
        out = new PrintWriter(new OutputStreamWriter(new GZIPOutputStream(Files.newOutputStream(Paths.get(a[2]))), StandardCharsets.UTF_8));
        Map<String, String> kinds = new LinkedHashMap<>();
        kinds.put("pop_checkpoint", there("org.apache.rocketmq.store.pop.PopCheckPoint"));
        kinds.put("pop_ack", there("org.apache.rocketmq.store.pop.AckMsg"));
        kinds.put("pop_batch_ack", there("org.apache.rocketmq.store.pop.BatchAckMsg"));
        kinds.put("offset_moved", there("org.apache.rocketmq.remoting.protocol.topic.OffsetMovedEvent", "org.apache.rocketmq.common.protocol.topic.OffsetMovedEvent"));
        for (int n = 0; n < Integer.parseInt(a[0]); n++)
            for (Map.Entry<String, String> kind : kinds.entrySet()) if (kind.getValue() != null) vector(kind.getKey(), kind.getValue());
        out.close();
    }
}
