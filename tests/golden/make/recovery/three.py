#!/usr/bin/env python3
"""three.py: build Lab for 3.2.6 (other package and method names, no dispatcher list, no batches) from src/Lab.java; its jars: pom.xml with com.alibaba.rocketmq."""
import os, subprocess, tempfile
H = os.path.dirname(os.path.abspath(__file__)); W = os.path.join(os.environ.get("LAB_TMP") or os.path.join(tempfile.gettempdir(), "rocketlens-lab"), "recovery"); s = open(H + "/src/Lab.java").read()
def sub(a, b):
    global s
    assert s.count(a) == 1, (a, s.count(a)); s = s.replace(a, b)
def cut(a, b, c=""):
    global s
    i = s.index(a); j = s.index(b, i); s = s[:i] + c + s[j:]
s = s.replace("org.apache.rocketmq", "com.alibaba.rocketmq").replace("import com.alibaba.rocketmq.store.*;", "import com.alibaba.rocketmq.store.*; import com.alibaba.rocketmq.store.stats.*;")
for a, b in (("mappedFileQueue", "mapedFileQueue"), ("getMappedFiles", "getMapedFiles"), ("getLastMappedFile", "getLastMapedFile2"), ("getWrotePosition", "getWrotePostion"), ("getMinOffsetInQueue", "getMinOffsetInQuque"), ("getMaxOffsetInQueue", "getMaxOffsetInQuque")): s = s.replace(f'"{a}"', f'"{b}"')
cut("      if (i % 40 == 39) {", "      PutMessageResult x = s.putMessage")
cut("    Object l = java.lang.reflect.Proxy.newProxyInstance", "    BrokerConfig b = new BrokerConfig();")
cut("    for (Constructor<?> k : Rocks.constructors(", '    throw new Exception("no constructor"); }', "    if (st != null) return new DefaultMessageStore(c, st);\n")
sub(' call(get(s, "dispatcherList"), "addLast", (CommitLogDispatcher) q -> { synchronized (d) { d.add(new long[]{q.getCommitLogOffset(), q.getMsgSize()}); } });', "")
sub('com.alibaba.rocketmq.store.LabReput rep = new com.alibaba.rocketmq.store.LabReput(s); field(s.getClass(), "reputMessageService").set(s, rep);', "")
sub('int l0; synchronized (d) { l0 = d.size(); t.put("dispatchedInLoad", seq(new ArrayList<>(d))); } t.put("afterLoad"', 'Thread.sleep(800); t.put("afterLoad"')
sub('        t.put("reputStartPositions", new ArrayList<>(rep.positions));\n', "")
cut("long behind = 0; for", 't.put("quiet", snap(s, root, true));', "Thread.sleep(300); ")
cut(" Object rocks = Rocks.queues(s);", "if (table == null)")
sub(' if (ask != null) t.put("answers", Oracle.ask(s, Long.parseLong(ask)));', "")
sub('    if (a[0].equals("batches") || a[0].equals("fresh")) { try { if (a[0].equals("fresh")) FreshQueues.answer(a); else FreshQueues.writeBatches(a); } catch (Throwable t) { t.printStackTrace(); Runtime.getRuntime().halt(1); } return; }\n', "")
sub(' if (ask != null) t.put("queuesFound", FreshQueues.of(s, dir));', "")
sub(' if (ask != null) t.put("queuesLeft", FreshQueues.of(s, dir));', "")
cut('    if (a[0].equals("vary"))', "    initLog();")
o = W + "/classes/3.2.6"; os.makedirs(o, exist_ok=True); os.makedirs(W + "/src3", exist_ok=True); open(W + "/src3/Lab.java", "w").write(s)
subprocess.run(["javac", "-nowarn", "-encoding", "UTF-8", "-cp", W + "/jars/3.2.6/*", "-d", o, W + "/src3/Lab.java"], check=True)
