package org.apache.rocketmq.store;
import java.util.*; import org.apache.rocketmq.store.config.MessageStoreConfig;
/** Folders SEED COUNT: which folder MultiPathMappedFileQueue gives a new file, for random settings; one JSON line each. MAPPED is org.apache.rocketmq.store.MappedFile in 4.9, org.apache.rocketmq.store.logfile.MappedFile since 5.0. */
public class Folders {
  static String js(Collection<String> l) { StringBuilder s = new StringBuilder("["); for (String x : l) s.append(s.length() > 1 ? "," : "").append('"').append(x).append('"'); return s.append("]").toString(); }
  public static void main(String[] a) throws Exception {
    Random r = new Random(Long.parseLong(a[0])); String[] names = {"/d/a", "/d/b/commitlog", "/d/A", "/d/b", "/d/\u00e9", "/z", "/d/a1"};
    for (int i = 0; i < Integer.parseInt(a[1]); i++) {
      List<String> all = new ArrayList<>(Arrays.asList(names)); Collections.shuffle(all, r); List<String> paths = all.subList(0, 2 + r.nextInt(4)), only = new ArrayList<>(), full = new ArrayList<>();
      for (String p : all) { if (r.nextInt(5) == 0) only.add(p); if (r.nextInt(4) == 0) full.add(p); }
      MessageStoreConfig c = new MessageStoreConfig(); c.setStorePathCommitLog(String.join(",", paths)); c.setReadOnlyCommitLogStorePaths(String.join(",", only)); int size = 1 << (10 + r.nextInt(20)); long base = size * (long) r.nextInt(50);
      String[] got = new String[1]; MultiPathMappedFileQueue q = QUEUE(c, size, new HashSet<>(full), got); String error = null;
      try { java.lang.reflect.Method m = MultiPathMappedFileQueue.class.getDeclaredMethod("tryCreateMappedFile", long.class); m.setAccessible(true); m.invoke(q, base); } catch (java.lang.reflect.InvocationTargetException e) { error = e.getCause().getClass().getName(); }
      System.out.println("{\"storePathCommitLog\":\"" + c.getStorePathCommitLog() + "\",\"readOnlyCommitLogStorePaths\":\"" + c.getReadOnlyCommitLogStorePaths() + "\",\"full\":" + js(full) + ",\"fileSize\":" + size + ",\"base\":" + base + ",\"path\":" + (got[0] == null ? "null" : "\"" + got[0] + "\"") + ",\"error\":" + (error == null ? "null" : "\"" + error + "\"") + "}"); }
  }
  static MultiPathMappedFileQueue QUEUE(MessageStoreConfig c, int size, Set<String> full, String[] got) { return new MultiPathMappedFileQueue(c, size, null, () -> full) { @Override protected MAPPED doCreateMappedFile(String next, String nextNext) { got[0] = next; return null; } }; }
}
