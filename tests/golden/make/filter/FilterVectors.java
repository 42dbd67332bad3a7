import java.nio.charset.StandardCharsets;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import java.util.zip.GZIPOutputStream;
import org.apache.rocketmq.filter.expression.EvaluationContext;
import org.apache.rocketmq.filter.expression.Expression;
import org.apache.rocketmq.filter.parser.SelectorParser;

/** Random SQL92 filters and what RocketMQ's own parser and expressions make of them. Usage: COUNT SEED OUT.jsonl.gz */
public class FilterVectors {
    static final String[] NAMES = {"a", "b", "c", "A", "_d", "$e", "TAGS", "missing"};
    static final String[] TEXTS = {"", "x", "xy", "abc", "1", "2", "10", "-1", "+7", "1.5", "2.0", "1e3", "0", "-0.0", "0.0",
        "NaN", "Infinity", "-Infinity", " 3 ", "3d", "0x1p3", "0x10", "1_000", "3000000000", "-2147483648", "2147483648",
        "99999999999999999999", "9223372036854775807", "9007199254740993", "true", "TRUE", "false", "it's", "\u0663", "\uff11", "\u00e9", "\ud83d\ude00",
        "1.", ".5", ".", "1e", "1e400", "1e-400", "007", "1f", "1L", "\t4\n", "--", "+-1", "\u00a05"};
    static final String[] NUMBERS = {"0", "1", "2", "3", "7", "10", "1000", "2147483647", "2147483648", "3000000000", "9223372036854775807",
        "9223372036854775808", "5L", "5l", "0L", "007", "1.5", "2.0", ".5", "0.0", "5.", "1e3", "1E-2", "5.E2", "1e400", "1e-400", "9007199254740993.0", "1.5f"};
    static final String[] NOISE = {"(", ")", ",", "+", "-", "=", "<>", ">", ">=", "<", "<=", "NOT", "AND", "OR", "BETWEEN", "IN", "TRUE", "FALSE",
        "NULL", "IS", "CONTAINS", "STARTSWITH", "ENDSWITH", "not", "And", "contains", "'x'", "'it''s'", "''", "'1'", "'", "?", "--c\n", "/*c*/", "/* **/", "--", "!", "==",
        "a", "b", "1", "2.5", "\n", "\r\n", "\t", "\f", "[", "a.b", "\u00e9", ";", "/", "*", "LIKE", "in('x')", "0x1", "1a", ".", "''''"};
    static Random random;

    static String pick(String[] all) { return all[random.nextInt(all.length)]; }
    static String quoted() { return "'" + pick(TEXTS).replace("'", "''") + "'"; }
    static String word(String word) { return random.nextInt(4) == 0 ? word.toLowerCase() : word; }

    static String value(int depth) {
        int which = random.nextInt(13);
        if (which < 5) return pick(NAMES);
        if (which < 8) return pick(NUMBERS);
        if (which < 9) return quoted();
        if (which < 10) return (random.nextBoolean() ? "-" : "+") + (random.nextBoolean() ? " " : "") + value(depth + 1);
        if (which < 11) return word(new String[] {"TRUE", "FALSE", "NULL"}[random.nextInt(3)]);
        return depth < 4 ? "(" + (random.nextInt(3) == 0 ? condition(depth + 1) : value(depth + 1)) + ")" : pick(NAMES);
    }

    static String list() {
        StringBuilder all = new StringBuilder("(").append(quoted());
        for (int more = random.nextInt(7); more > 0; more--) all.append(", ").append(quoted());
        return all.append(")").toString();
    }

    static String condition(int depth) {
        String not = random.nextInt(3) == 0 ? word("NOT") + " " : "";
        switch (depth > 4 ? random.nextInt(8) : random.nextInt(12)) {
            case 0: case 1: return value(depth) + " " + pick(new String[] {"=", "<>"}) + " " + value(depth);
            case 2: case 3: return value(depth) + pick(new String[] {">", ">=", "<", "<=", " > ", " <= "}) + value(depth);
            case 4: return value(depth) + " " + not + word("BETWEEN") + " " + value(depth) + " " + word("AND") + " " + value(depth);
            case 5: return (random.nextInt(6) == 0 ? value(depth) : pick(NAMES)) + " " + not + word("IN") + " " + list();
            case 6: return value(depth) + " " + word("IS") + " " + not + word("NULL");
            case 7: return value(depth) + " " + not + word(pick(new String[] {"CONTAINS", "STARTSWITH", "ENDSWITH"})) + " " + quoted();
            case 8: return word("NOT") + " " + (random.nextBoolean() ? "(" + condition(depth + 1) + ")" : value(depth));
            case 9: return pick(NAMES);
            default:
                StringBuilder all = new StringBuilder();
                String joint = random.nextBoolean() ? "AND" : "OR";
                for (int terms = 2 + random.nextInt(3); terms > 0; terms--) {
                    String term = condition(depth + 1);
                    all.append(random.nextBoolean() ? "(" + term + ")" : term);
                    if (terms > 1) all.append(" ").append(word(random.nextInt(5) == 0 ? "OR" : joint)).append(" ");
                }
                return all.toString();
        }
    }

    static String sql() {
        String sql = condition(0);
        int way = random.nextInt(10);
        if (way < 6) return sql;
        if (way < 8) {
            int at = random.nextInt(sql.length() + 1);
            return sql.substring(0, at) + (random.nextBoolean() ? " " : "") + pick(NOISE) + (random.nextBoolean() ? " " : "") + sql.substring(at);
        }
        if (way < 9) {
            int at = random.nextInt(sql.length()), to = Math.min(sql.length(), at + 1 + random.nextInt(4));
            return sql.substring(0, at) + sql.substring(to);
        }
        StringBuilder soup = new StringBuilder();
        for (int count = 1 + random.nextInt(8); count > 0; count--) soup.append(pick(NOISE)).append(random.nextInt(3) == 0 ? "" : " ");
        return soup.toString();
    }

    static String json(String text) {
        StringBuilder out = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            if (c < 32 || c > 126 || c == '"' || c == '\\') out.append(String.format("\\u%04x", (int) c));
            else out.append(c);
        }
        return out.append('"').toString();
    }

    static String asked(Expression expression, Map<String, String> properties) {
        try {
            Object result = expression.evaluate(new EvaluationContext() {
                public Object get(String name) { return properties.get(name); }
                public Map<String, Object> keyValues() { return null; }
            });
            return result == null ? "null" : String.valueOf((boolean) (Boolean) result);
        } catch (Exception e) {
            return "\"error\"";
        }
    }

    public static void main(String[] args) throws Exception {
        random = new Random(Long.parseLong(args[1]));
        try (PrintWriter out = new PrintWriter(new OutputStreamWriter(
                new GZIPOutputStream(Files.newOutputStream(Paths.get(args[2]))), StandardCharsets.UTF_8))) {
            for (int count = Integer.parseInt(args[0]); count > 0; count--) {
                String sql = sql();
                Expression expression = null;
                try {
                    expression = SelectorParser.parse(sql);
                } catch (Exception e) {
                    // an invalid filter has no rows
                }
                StringBuilder rows = new StringBuilder();
                for (int row = 0; expression != null && row < 8; row++) {
                    Map<String, String> properties = new LinkedHashMap<>();
                    StringBuilder held = new StringBuilder();
                    for (String name : NAMES) {
                        if (!name.equals("missing") && random.nextInt(3) > 0) {
                            String text = pick(TEXTS);
                            properties.put(name, text);
                            held.append(held.length() == 0 ? "" : ", ").append(json(name)).append(": ").append(json(text));
                        }
                    }
                    rows.append(rows.length() == 0 ? "" : ", ").append("[{").append(held).append("}, ")
                        .append(asked(expression, properties)).append("]");
                }
                out.print("{\"sql\": " + json(sql) + ", \"rows\": " + (expression == null ? "null" : "[" + rows + "]") + "}\n");
            }
        }
    }
}
