import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;
import java.util.stream.Stream;
import org.apache.rocketmq.store.*;
import org.apache.rocketmq.store.config.MessageStoreConfig;

/** Queue by queue what ConsumeQueue, or BatchConsumeQueue, makes of the files alone: load, recover, correctMinOffset. Nothing is dispatched, and no log cuts it. */
class FreshQueues {
  static final String BATCHES = "org.apache.rocketmq.store.queue.BatchConsumeQueue";

  /** "topic/queue" -> `load`, least and greatest queue offset, and every unit between them; of a copy of the files, which recovery may delete. Of a queue of batches its ends only. */
  static Map<String, Object> of(DefaultMessageStore store, String root) throws Exception {
    Map<String, Object> told = new TreeMap<>();
    boolean ext = store.getMessageStoreConfig().isEnableConsumeQueueExt();
    store.getMessageStoreConfig().setEnableConsumeQueueExt(false); // ext files are not in the copy, and recovery would cut the store's own
    for (String kind : new String[]{"consumequeue", "batchconsumequeue"}) {
      Path copy = Paths.get(root + "." + kind);
      try {
        copy(Paths.get(root, kind), copy);
        for (File topic : folders(copy.toFile()))
          for (File queue : folders(topic))
            if (queue.getName().matches("\\d{1,9}")) told.put(topic.getName() + "/" + queue.getName(), one(store, copy, topic.getName(), Integer.parseInt(queue.getName()), logStart(store)));
      } finally { delete(copy); }
    }
    store.getMessageStoreConfig().setEnableConsumeQueueExt(ext);
    return told;
  }

  static Map<String, Object> one(DefaultMessageStore store, Path folder, String topic, int id, long logStart) throws Exception {
    Map<String, Object> told = new LinkedHashMap<>();
    boolean batches = folder.toString().endsWith(".batchconsumequeue");
    Object queue = batches ? batches(store, folder, topic, id) : queue(ConsumeQueue.class, topic, id, folder, store.getMessageStoreConfig().getMappedFileSizeConsumeQueue(), store);
    try {
      boolean loaded = (Boolean) Lab.call(queue, "load");
      told.put("load", loaded);
      if (!loaded) return told;
      Lab.call(queue, "recover");
      Lab.call(queue, "correctMinOffset", logStart);
    } catch (InvocationTargetException e) {
      told.put("error", String.valueOf(e.getCause()));
      return told;
    }
    told.put("min", Lab.call(queue, "getMinOffsetInQueue"));
    told.put("max", Lab.call(queue, "getMaxOffsetInQueue"));
    if (!batches) told.put("units", units((ConsumeQueue) queue));
    return told;
  }

  static Object batches(DefaultMessageStore store, Path folder, String topic, int id) throws Exception {
    return queue(Class.forName(BATCHES), topic, id, folder, (Integer) Lab.call(store.getMessageStoreConfig(), "getMapperFileSizeBatchConsumeQueue"), store);
  }

  static Object queue(Class<?> type, String topic, int id, Path folder, int size, DefaultMessageStore store) throws Exception {
    for (Constructor<?> made : type.getConstructors()) if (made.getParameterCount() == 5) return made.newInstance(topic, id, folder.toString(), size, store);
    throw new NoSuchMethodException(type.getName());
  }

  /** "batches ROOT SEED LOG k=v..": some queues of batches, each of a random length, and an empty log file LOG. */
  static void writeBatches(String[] a) throws Exception {
    Map<String, String> kv = new LinkedHashMap<>();
    for (int i = 4; i < a.length; i++) { String[] p = a[i].split("=", 2); kv.put(p[0], p[1]); }
    Random chance = new Random(Long.parseLong(a[2]));
    DefaultMessageStore store = Lab.open(a[1], kv);
    for (int id = 0; id < 4; id++) {
      Object queue = batches(store, Paths.get(a[1], "batchconsumequeue"), "Batches", id);
      Lab.call(queue, "load");
      long offset = chance.nextInt(9000), number = chance.nextInt(3) * 7L;
      for (int i = chance.nextInt(90); i >= 0; i--) {
        int size = 150 + chance.nextInt(2000), count = 1 + chance.nextInt(9);
        if (!(Boolean) Lab.call(queue, "putBatchMessagePositionInfo", offset, size, (long) chance.nextInt(), 1700000000000L + offset, number, (short) count)) throw new Exception("put");
        offset += size + chance.nextInt(5000);
        number += count;
      }
      Lab.call(queue, "flush", 0);
    }
    Files.createDirectories(Paths.get(a[1], "commitlog"));
    try (RandomAccessFile log = new RandomAccessFile(Paths.get(a[1], "commitlog", a[3]).toString(), "rw")) { log.setLength(store.getMessageStoreConfig().getMappedFileSizeCommitLog()); }
    Runtime.getRuntime().halt(0);
  }

  /** "fresh LISTFILE": `of` for each line ROOT, OUT, k=v.., which are separated by tabs. */
  static void answer(String[] a) throws Exception {
    for (String line : Files.readAllLines(Paths.get(a[1]))) {
      String[] p = line.split("\t");
      Map<String, String> kv = new LinkedHashMap<>();
      for (int i = 2; i < p.length; i++) { String[] q = p[i].split("=", 2); kv.put(q[0], q[1]); }
      Files.write(Paths.get(p[1]), Lab.js(of(Lab.open(p[0], kv), p[0])).getBytes(StandardCharsets.UTF_8));
    }
    Runtime.getRuntime().halt(0);
  }

  /** Queue offset, physical offset, size, tags code of every unit that can be had between the queue's ends; a file may be missing. */
  static List<Object> units(ConsumeQueue queue) {
    List<Object> units = new ArrayList<>();
    long most = queue.getMaxOffsetInQueue();
    for (long at = Math.max(0, queue.getMinOffsetInQueue()); at < most; at++) {
      SelectMappedBufferResult run = queue.getIndexBuffer(at);
      if (run == null) continue;
      ByteBuffer bytes = run.getByteBuffer();
      if (bytes.remaining() >= 20) units.add(Arrays.asList(at, bytes.getLong(), bytes.getInt(), bytes.getLong()));
      run.release();
    }
    return units;
  }

  /** Where the log's first file begins, of all the folders that are set; 0 without one. */
  static long logStart(DefaultMessageStore store) {
    MessageStoreConfig config = store.getMessageStoreConfig();
    String[] folders = (config.getStorePathCommitLog() + "," + Lab.tryCall(config, "getReadOnlyCommitLogStorePaths")).split(",");
    Stream<String> names = Stream.of(folders).map(folder -> new File(folder.trim()).list()).filter(Objects::nonNull).flatMap(Stream::of);
    return names.filter(name -> name.matches("\\d{20}")).mapToLong(Long::parseLong).min().orElse(0);
  }

  static List<File> folders(File of) {
    File[] found = of.listFiles(File::isDirectory);
    List<File> folders = new ArrayList<>(found == null ? Collections.emptyList() : Arrays.asList(found));
    Collections.sort(folders);
    return folders;
  }

  static void copy(Path from, Path to) throws IOException {
    Files.createDirectories(to);
    if (!Files.isDirectory(from)) return;
    try (Stream<Path> all = Files.walk(from)) {
      for (Path one : (Iterable<Path>) all::iterator) {
        Path target = to.resolve(from.relativize(one).toString());
        if (Files.isDirectory(one)) Files.createDirectories(target); else Files.copy(one, target);
      }
    }
  }

  static void delete(Path folder) throws IOException {
    if (!Files.exists(folder)) return;
    try (Stream<Path> all = Files.walk(folder)) {
      for (Path one : (Iterable<Path>) all.sorted(Comparator.reverseOrder())::iterator) Files.delete(one);
    }
  }
}
