import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.*;
import java.util.*;
import java.util.stream.Stream;
import org.apache.rocketmq.store.*;

/** Queue by queue what ConsumeQueue itself makes of the files, alone: load, recover, correctMinOffset. Nothing is dispatched, and no log cuts it. */
class FreshQueues {
  /** "topic/queue" -> `load`, least and greatest queue offset, and every unit between them; of a copy of the files, which recovery may delete. */
  static Map<String, Object> of(DefaultMessageStore store, String root) throws Exception {
    Path copy = Paths.get(root + ".queues");
    Map<String, Object> told = new TreeMap<>();
    try {
      copy(Paths.get(root, "consumequeue"), copy);
      long logStart = logStart(root);
      for (File topic : folders(copy.toFile()))
        for (File queue : folders(topic))
          if (queue.getName().matches("\\d{1,9}")) told.put(topic.getName() + "/" + queue.getName(), one(store, copy, topic.getName(), Integer.parseInt(queue.getName()), logStart));
    } finally { delete(copy); }
    return told;
  }

  static Map<String, Object> one(DefaultMessageStore store, Path folder, String topic, int id, long logStart) throws Exception {
    Map<String, Object> told = new LinkedHashMap<>();
    ConsumeQueue queue = null;
    for (java.lang.reflect.Constructor<?> made : ConsumeQueue.class.getConstructors())
      if (made.getParameterCount() == 5) queue = (ConsumeQueue) made.newInstance(topic, id, folder.toString(), store.getMessageStoreConfig().getMappedFileSizeConsumeQueue(), store);
    try {
      boolean loaded = queue.load();
      told.put("load", loaded);
      if (!loaded) return told;
      queue.recover();
      queue.correctMinOffset(logStart);
    } catch (RuntimeException e) {
      told.put("error", String.valueOf(e));
      return told;
    }
    told.put("min", queue.getMinOffsetInQueue());
    told.put("max", queue.getMaxOffsetInQueue());
    told.put("units", units(queue));
    return told;
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

  /** Where the log's first file begins; 0 without one. */
  static long logStart(String root) {
    String[] names = new File(root, "commitlog").list();
    return names == null ? 0 : Stream.of(names).filter(name -> name.matches("\\d{20}")).mapToLong(Long::parseLong).min().orElse(0);
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
