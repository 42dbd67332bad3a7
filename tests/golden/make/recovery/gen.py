#!/usr/bin/env python3
"""gen.py VERSION BASE SEED SET [N_RANDOM]: make damage recipes for a base, run them through the store classes, write case files."""
import json, os, random, tempfile, shutil, struct, subprocess, sys, tarfile, glob, time
H = os.path.dirname(os.path.abspath(__file__)); sys.path.insert(0, H); import apply_recipe
W = os.path.join(os.environ.get("LAB_TMP") or os.path.join(tempfile.gettempdir(), "rocketlens-lab"), "recovery"); FS = 131072; CQ = 2000; SLOTS = 100
DEST = {"first": "out/first", "second": "out/second"}
def java(v): 
    j = shutil.which("java") or "java"; op = []
    for m in ("java.lang", "java.nio", "java.util", "sun.nio.ch", "jdk.internal.ref", "java.io", "jdk.internal.misc"): op += ["--add-opens", f"java.base/{m}=ALL-UNNAMED"]
    op += ["--add-exports", "java.base/jdk.internal.ref=ALL-UNNAMED"]
    return [j, "-Xmx512m", "-XX:+UseSerialGC"] + op + [f"-Duser.home={W}/home/{v}", f"-Drmq.logback.configurationFile={H}/rmq.logback.xml", "-cp", f"{W}/classes/{v}:{W}/jars/{v}/*", "Lab"]
def walk(root):
    """records of the commitlog: (file, pos, size, bodyLenPos, bodyLen, topicLenPos, queueId, topic)"""
    out = []
    for f in sorted(glob.glob(root + "/commitlog/*")):
        b = open(f, "rb").read(); p = 0
        while p + 91 < len(b):
            n, m = struct.unpack_from(">iI", b, p)
            if m not in (0xDAA320A7, 0xDAA320AB): break
            bl = struct.unpack_from(">i", b, p + 84)[0]; tp = p + 88 + bl; L = 1 if m == 0xDAA320A7 else 2
            tl = int.from_bytes(b[tp:tp + L], "big"); out.append(dict(f="commitlog/" + os.path.basename(f), p=p, n=n, bl=bl, tp=tp, L=L, tl=tl)); p += n
    return out
def recipes(root, rnd, nrandom, info, version, alt):
    full5 = not version.startswith("4.")
    R = walk(root); files = sorted({r["f"] for r in R}); allcl = ["commitlog/" + os.path.basename(x) for x in sorted(glob.glob(root + "/commitlog/*"))]
    last = files[-1]; old = files[0]; third = files[-3] if len(files) > 2 else files[0]; mid = files[len(files) // 2]
    pick = lambda f, lo=0.2, hi=0.9: (lambda c: c[int(len(c) * rnd.uniform(lo, hi))])([r for r in R if r["f"] == f and r["bl"] > 40] or [r for r in R if r["bl"] > 40])
    w = lambda r, o, h: dict(op="write", path=r["f"], offset=r["p"] + o, hex=h)
    out = []; add = lambda cls, desc, *e, **cfg: out.append((cls, desc, list(e), cfg))
    add("none", "no damage")
    for tag, f in (("last", last), ("third_last", third), ("oldest", old)):
        r = pick(f); add("record.body_flip", f"bit flip in a body, {tag} file", dict(op="flip", path=f, offset=r["p"] + 88 + r["bl"] // 2, hex="04"))
        r = pick(f); add("zero_page", f"zeroed 4 KiB page, {tag} file", dict(op="zero", path=f, offset=(r["p"] // 4096) * 4096, length=4096))
    r = pick(last); e = dict(op="flip", path=last, offset=r["p"] + 88 + r["bl"] // 2, hex="40"); add("config.no_crc", "bit flip in a body, CRC check off", e, checkCRCOnRecover="false")
    r = pick(last); add("record.properties_flip", "bit flip in properties", dict(op="flip", path=last, offset=r["tp"] + r["L"] + r["tl"] + 2 + 12, hex="01"))
    for nm, h in (("zero", "00000000"), ("negative", "ffffff00"), ("huge", "7fffff00"), ("plus1", None)):
        r = pick(last); add("record.size_" + nm, "total size field " + nm, w(r, 0, h or "%08x" % (r["n"] + 1)))
    for nm, o, h in (("magic", 4, "0badcafe"), ("queueid", 12, "00000009"), ("queueoffset", 20, "00000000000003e7"), ("physicaloffset", 28, "0000000000000007"), ("body_length", 84, "00ffffff"), ("magic_blank", 4, "cbd43194")):
        r = pick(last); add("record." + nm, f"field {nm} overwritten in last file", w(r, o, h))
    r = pick(last); add("record.topic_length", "topic length overwritten", dict(op="write", path=last, offset=r["tp"], hex="ff" * r["L"]))
    add("file.truncated_last", "last commitlog file cut at an odd size", dict(op="truncate", path=last, length=FS // 2 + 37))
    add("file.truncated_middle", "a middle commitlog file cut", dict(op="truncate", path=mid, length=FS - 4096))
    add("file.zero_length_last", "last file in order has length 0", *([dict(op="truncate", path=allcl[-1], length=0)]))
    for nm, f in (("first", old), ("middle", mid), ("last", last)): add("file.missing_" + nm, f"{nm} commitlog file missing", dict(op="delete", path=f))
    add("file.extra_empty", "an extra all-zero pre-allocated file", dict(op="create", path="commitlog/%020d" % (int(os.path.basename(allcl[-1])) + FS), length=FS))
    add("file.no_commitlog", "all commitlog files missing", dict(op="delete", path="commitlog"))
    e = [x for x in R if x["f"] == last][-1]; s = pick(old); end = e["p"] + e["n"]
    if end + s["n"] < FS: add("stale_tail", "older valid record copied behind the log end", dict(op="copy", path=old, offset=s["p"], length=s["n"], to=last, toOffset=end))
    cqd = sorted(glob.glob(root + "/consumequeue/*/*")); rel = lambda p: os.path.relpath(p, root)
    q = rel(rnd.choice(cqd)); add("cq.deleted_all", "consumequeue deleted", dict(op="delete", path="consumequeue")); add("cq.deleted_queue", "one queue deleted", dict(op="delete", path=q))
    add("cq.deleted_topic", "one topic's queues deleted", dict(op="delete", path=os.path.dirname(rel(rnd.choice(cqd)))))
    big = max(cqd, key=lambda d: (len(os.listdir(d)), d)); bf = sorted(os.listdir(big)); cf = rel(big) + "/" + bf[-1]; cb = open(root + "/" + cf, "rb").read(); nu = next((i for i in range(len(cb) // 20) if struct.unpack_from(">i", cb, i * 20 + 8)[0] <= 0), len(cb) // 20)
    add("cq.file_deleted_last", "last file of a queue deleted", dict(op="delete", path=cf)); add("cq.file_deleted_first", "first file of a queue deleted", dict(op="delete", path=rel(big) + "/" + bf[0]))
    add("cq.truncated_file", "queue file cut to an odd size", dict(op="truncate", path=cf, length=CQ // 2 + 10))
    for k in (1, 2, 5):
        if nu > k: add("cq.tail_zeroed", f"last {k} units of one queue zeroed", dict(op="zero", path=cf, offset=(nu - k) * 20, length=k * 20))
    ed = []
    for d in cqd:
        ff = sorted(os.listdir(d))[-1]; b = open(d + "/" + ff, "rb").read(); n = next((i for i in range(len(b) // 20) if struct.unpack_from(">i", b, i * 20 + 8)[0] <= 0), len(b) // 20); k = min(n, rnd.randint(1, 6)); ed.append(dict(op="zero", path=rel(d) + "/" + ff, offset=(n - k) * 20, length=k * 20))
    add("cq.tail_zeroed_all", "last units of every queue zeroed", *ed)
    k = rnd.randrange(max(1, nu)); add("cq.unit_zeroed", "a unit in the middle zeroed", dict(op="zero", path=cf, offset=k * 20, length=20))
    if nu < CQ // 20: add("cq.unit_past_end", "extra unit pointing past the commitlog end", dict(op="write", path=cf, offset=nu * 20, hex=struct.pack(">qiq", FS * 1000, 200, 0).hex()))
    add("cq.unit_wrong", "a unit pointing to a wrong message", dict(op="write", path=cf, offset=(nu // 2) * 20, hex=struct.pack(">qiq", s["p"], s["n"], 1).hex()))
    add("cq.unknown_topic", "queue of a topic that the commitlog does not have", dict(op="create", path="consumequeue/Ghost/0/" + "0" * 20, hex=struct.pack(">qiq", s["p"], s["n"], 0).hex(), length=CQ))
    ix = sorted(rel(x) for x in glob.glob(root + "/index/*"))
    if ix:
        add("index.deleted_all", "index deleted", dict(op="delete", path="index")); add("index.deleted_one", "oldest index file deleted", dict(op="delete", path=ix[0]))
        add("index.header_count", "entry count in header of newest file wrong", dict(op="write", path=ix[-1], offset=36, hex="00000005")); add("index.truncated", "newest index file cut", dict(op="truncate", path=ix[-1], length=5000))
        add("index.future_end", "endTimestamp of oldest index file in the future", dict(op="write", path=ix[0], offset=8, hex="0000030000000000"))
    add("checkpoint.deleted", "checkpoint deleted", dict(op="delete", path="checkpoint")); add("checkpoint.zeroed", "checkpoint zeroed", dict(op="zero", path="checkpoint", offset=0, length=40))
    add("checkpoint.future", "timestamps in the future", dict(op="write", path="checkpoint", offset=0, hex="0000030000000000" * 3)); add("checkpoint.past", "timestamps far in the past", dict(op="write", path="checkpoint", offset=0, hex="0000000100000000" * 3))
    add("config.index_off", "messageIndexEnable=false", messageIndexEnable="false"); add("config.index_safe", "messageIndexSafe=true", messageIndexSafe="true"); add("config.sync_flush", "flushDiskType=SYNC_FLUSH", flushDiskType="SYNC_FLUSH"); add("config.duplication", "duplicationEnable=true", duplicationEnable="true")
    f0 = [r for r in R if r["f"] == last][0]
    for nm, o, h in (("magic", 4, "00000001"), ("storetime_zero", 56, "0" * 16), ("storetime_future", 56, "0000030000000000"), ("size_zero", 0, "00000000")): add("file_head." + nm, f"first record of the last file: {nm}", w(f0, o, h))
    r = pick(last, 0.4, 0.95); add("record.prepared_type", "sysFlag of a record changed to prepared", w(r, 36, "00000004"))
    r = pick(last, 0.4, 0.95); add("record.store_timestamp", "storeTimestamp of a record far in the future", w(r, 56, "0000030000000000"))
    add("file.bad_name", "a file with a non-numeric name among the commitlog files", dict(op="create", path="commitlog/notes.txt", length=FS))
    add("file.zero_length_extra", "an extra file of length 0 after the last", dict(op="create", path="commitlog/%020d" % (int(os.path.basename(allcl[-1])) + FS), length=0))
    add("file.extra_after_gap", "an extra all-zero file after a gap of one file", dict(op="create", path="commitlog/%020d" % (int(os.path.basename(allcl[-1])) + 2 * FS), length=FS))
    add("cq.zero_length_file", "an extra queue file of length 0", dict(op="create", path=rel(big) + "/%020d" % (int(bf[-1]) + CQ), length=0)); add("cq.extra_empty_file", "an extra all-zero queue file", dict(op="create", path=rel(big) + "/%020d" % (int(bf[-1]) + CQ), length=CQ))
    add("cq.last_file_zeroed", "last file of a queue all zero", dict(op="zero", path=cf, offset=0, length=CQ)); add("cq.bad_queue_dir", "a queue directory with a non-numeric name", dict(op="create", path="consumequeue/TopicA/x/" + "0" * 20, length=CQ))
    if len(bf) > 2: add("cq.middle_file_deleted", "a middle file of a queue deleted", dict(op="delete", path=rel(big) + "/" + bf[len(bf) // 2]))
    add("checkpoint.short", "checkpoint cut to 24 bytes", dict(op="truncate", path="checkpoint", length=24)); add("config.corrupt_delay_offset", "config/delayOffset.json is not JSON", dict(op="create", path="config/delayOffset.json", hex="7b22626164".ljust(20, "0")))
    add("config.corrupt_delay_offset_both", "config/delayOffset.json and its .bak are not JSON", dict(op="create", path="config/delayOffset.json", hex="7b7b7b"), dict(op="create", path="config/delayOffset.json.bak", hex="7b7b7b"))
    add("store.emptied", "commitlog, consumequeue, index and checkpoint deleted", *[dict(op="delete", path=x) for x in ("commitlog", "consumequeue", "index", "checkpoint", "config")])
    add("store.only_commitlog", "only the commitlog kept", *[dict(op="delete", path=x) for x in ("consumequeue", "index", "checkpoint", "config")])
    add("cq.deleted_all_index_off", "consumequeue deleted, messageIndexEnable=false", dict(op="delete", path="consumequeue"), messageIndexEnable="false")
    if full5: add("config.recheck_reput", "consumequeue deleted, recheckReputOffsetFromCq=true", dict(op="delete", path="consumequeue"), recheckReputOffsetFromCq="true"); add("config.recheck_reput_tail", "last units of every queue zeroed, recheckReputOffsetFromCq=true", *ed, recheckReputOffsetFromCq="true")
    if ix:
        add("index.end_zero", "endTimestamp of newest index file zero", dict(op="write", path=ix[-1], offset=8, hex="0" * 16)); add("index.bad_name", "a file with a non-numeric name in index", dict(op="create", path="index/notes.txt", hex="00"))
    fl = info.get("flushed"); pl = []
    if fl:  # power loss: only what had been forced to disk survives
        def cut(pre, size, at):
            o = []
            for x in sorted(os.listdir(root + "/" + pre)):
                if not x.isdigit(): continue
                b0 = int(x); n = os.path.getsize(root + "/" + pre + "/" + x)
                if b0 + n > at and n: a = max(0, at - b0); o.append(dict(op="zero", path=pre + "/" + x, offset=a, length=n - a))
            return o
        cl = cut("commitlog", FS, fl["commitLogFlushed"]); cqs = []
        for k, v in fl["queuesFlushed"].items():
            if os.path.isdir(root + "/consumequeue/" + k): cqs += cut("consumequeue/" + k, CQ, v)
        P = lambda cls, desc, *e, **c: pl.append(("powerloss." + cls, desc, list(e), c))
        P("commitlog", "only forced commitlog bytes kept", *cl); P("commitlog_and_cq", "only forced commitlog and queue bytes kept", *(cl + cqs)); P("cq", "only forced queue bytes kept", *cqs)
        if ix: P("all", "only forced commitlog and queue bytes kept, newest index file lost its pages", *(cl + cqs + [dict(op="zero", path=ix[-1], offset=0, length=os.path.getsize(root + "/" + ix[-1]))])); P("all_no_checkpoint", "as before and checkpoint is zero", *(cl + cqs + [dict(op="zero", path=ix[-1], offset=0, length=os.path.getsize(root + "/" + ix[-1])), dict(op="zero", path="checkpoint", offset=0, length=4096)]))
        pages = []
        at = fl["commitLogFlushed"]; end_ = max(int(os.path.basename(r["f"])) + r["p"] + r["n"] for r in R)
        for pg in range((at + 4095) // 4096, end_ // 4096):
            if rnd.random() < .4: g = pg * 4096; pages.append(dict(op="zero", path="commitlog/%020d" % (g // FS * FS), offset=g % FS, length=4096))
        if not pages and end_ > 8192: g = (end_ // 4096 - 1) * 4096; pages.append(dict(op="zero", path="commitlog/%020d" % (g // FS * FS), offset=g % FS, length=4096))
        P("holes", "some unforced commitlog pages lost, later ones kept", *pages); P("holes_and_cq", "some unforced commitlog pages lost, unforced queue bytes lost", *(pages + cqs))
        for k in (1, 3):
            bk = at // 4096 * 4096 - k * 4096
            if bk > 0: P("deeper", f"commitlog lost {k} more pages than the force position says", *cut("commitlog", FS, bk))
        P("commitlog_safe", "only forced commitlog bytes kept, messageIndexSafe=true", *cl, messageIndexSafe="true")
    full = []
    for cls, d, e, c in pl: full.append((cls, d + ", abort present", e + [dict(op="create", path="abort")], c))
    for cls, d, e, c in out:
        two = [(cls, d + ", no abort", [dict(op="delete", path="abort")] + e, c), (cls, d + ", abort present", e + [dict(op="create", path="abort")], c)]
        if alt: two = [rnd.choice(two)]
        full += two
    cand = [o for o in out if o[2] and not o[0].startswith(("file.no_commitlog", "file.truncated", "store.", "file.bad", "index.bad", "file.zero_length", "cq.zero_length", "config.corrupt"))]
    got = 0
    for _ in range(nrandom * 4):
        if got >= nrandom: break
        ch = rnd.sample(cand, rnd.choice((2, 2, 3))); paths = [{x["path"] for x in o[2]} for o in ch]; bad = False
        for i in range(len(ch)):
            for k in range(i):
                if any(x == y or x.startswith(y + "/") or y.startswith(x + "/") for x in paths[i] for y in paths[k]) and not all(x["op"] in ("flip", "write", "zero") for o in (ch[i], ch[k]) for x in o[2]): bad = True
        if bad: continue
        got += 1; ab = rnd.random() < .6; full.append(("combo", " + ".join(o[1] for o in ch) + (", abort present" if ab else ", no abort"), sum((o[2] for o in ch), []) + [dict(op="create" if ab else "delete", path="abort")], {k: v for o in ch for k, v in o[3].items()}))
    return full
import re
KEEP = re.compile(r"recover|truncat|delet|illegal|dirty|found a|half|physic|abort|exit|SetReput|mapped file|queue min|correct|not match|length|checkpoint|EXC|Exception|fail|full|exceed|maxPhy|CRC|magic|reput|blank|BUG|offset|load", re.I)
def loglines(path, out):
    if not os.path.exists(path): return []
    L = []; shapes = {}; skip = 0
    for l in open(path, errors="replace").read().replace(out, "<store>").replace("INFO - ", "INFO ").replace("WARN - ", "WARN ").replace("ERROR - ", "ERROR ").splitlines():
        if "Load default HA" in l or "META-INF" in l or "interrupted" in l or "service shutdown" in l.lower() or "Try to shutdown" in l or "Try to start" in l or "StoreState transition" in l or "compaction" in l or re.match(r"INFO load (<store>/co|consume queue|logics queue|SimpleCQ|BatchCQ|lmqCQ|all lmq)", l) or "shutdown thread" in l or "join thread" in l or "MessageService service" in l or "Start service thread" in l or "shutdown commitLog" in l or "recover next consume" in l or "recover current consume" in l or not KEEP.search(l): continue
        l = l[:260].replace("g" * 140, "g*140"); sh = re.sub(r"\d+", "#", l)
        if sh in shapes and shapes[sh][1] >= 4 and l.startswith(("WARN Maybe", "WARN [BUG]", "INFO store checkpoint")) or sh in shapes and shapes[sh][1] >= 12: shapes[sh][2] += 1; continue
        if len(L) >= 90: skip += 1; continue
        e = shapes.setdefault(sh, [len(L), 0, 0]); e[1] += 1; L.append(l); e[0] = len(L) - 1
    for k, n, more in shapes.values():
        if more: L[k] += f"   (and {more} more lines like this)"
    return L + ([f"... {skip} more lines"] if skip else [])
def dump(case, path):
    c = lambda o: json.dumps(o, separators=(",", ":"), ensure_ascii=False); t = case.pop("truth"); o = []
    for k, v in case.items():
        if k == "log": continue
        o.append(f' "{k}":{c(v)}')
    tt = ",\n".join(f'  "{k}":{c(v)}' for k, v in t.items()); o.append(' "truth":{\n' + tt + "\n }"); lg = ",\n".join("  " + c(l) for l in case.get("log", [])); o.append(' "log":[\n' + lg + "\n ]")
    with open(path + ".tmp", "w") as f: f.write("{\n" + ",\n".join(o) + "\n}\n")
    os.replace(path + ".tmp", path)
def batch(v, items, tmp, attempts=4):
    """items: [(id, dir, config)]; returns {id: truth}"""
    T = {}
    for attempt in range(attempts):
        left = [x for x in items if x[0] not in T]
        if not left: break
        open(tmp + "/list", "w").write("".join("\t".join([d, d + ".truth"] + [f"{k}={x}" for k, x in c.items()]) + "\n" for _, d, c in left))
        with open(f"{tmp}/log", "a") as lg:
            try: subprocess.run(java(v) + ["recover", tmp + "/list"], stdout=lg, stderr=lg, timeout=240)
            except subprocess.TimeoutExpired: pass
        for i, d, c in left:
            if os.path.exists(d + ".truth"):
                try: T[i] = json.loads(open(d + ".truth").read().replace(d, "<store>"))
                except ValueError: pass
    return T
def run(v, base, seed, split, nrandom, limit=None, alt=False, suffix=""):
    global FS, CQ, SLOTS
    D = DEST[split]; rnd = random.Random(seed); tmp = f"{W}/run/{base}{suffix}"; shutil.rmtree(tmp, ignore_errors=True); root = tmp + "/base"
    info = json.load(open(f"{D}/bases/{base}.json")); bc = info["config"]; FS = int(bc["mappedFileSizeCommitLog"]); CQ = int(bc["mappedFileSizeConsumeQueue"]); SLOTS = int(bc["maxHashSlotNum"])
    apply_recipe.build({"base": base, "edits": []}, D + "/bases", root)
    rec = recipes(root, rnd, nrandom, info, v, alt)
    if limit and limit < len(rec): rec = [r for r in rec if r[0].startswith("powerloss")] + rnd.sample([r for r in rec if not r[0].startswith("powerloss")], max(0, limit - sum(r[0].startswith("powerloss") for r in rec)))
    t00 = time.time(); made = 0
    for c0 in range(0, len(rec), 18):
        if time.time() > float(os.environ.get("STOP_AT", "9e18")): print("stopped at", c0, "of", len(rec), flush=True); return
        items = []; cs = []
        for i, (cls, d, e, c) in enumerate(rec[c0:c0 + 18], c0):
            cid = f"{base}-{i:03d}"; case = dict(id=cid, version=v, base=base, damageClass=cls, description=d, configOverrides={**bc, **c}, edits=e); out = f"{tmp}/{cid}"
            try: apply_recipe.build(case, D + "/bases", out)
            except Exception as x: print("recipe failed", cid, cls, x, flush=True); continue
            case["abortPresent"] = os.path.exists(out + "/abort")
            items.append((cid, out, case["configOverrides"])); cs.append((case, out))
        T = batch(v, items, tmp)
        for case, out in cs:
            t = T.get(case["id"])
            if t is None: print("no truth", case["id"], case["damageClass"], flush=True); continue
            cfg = t.pop("config", None); case["config"] = cfg; case["log"] = loglines(out + ".truth.log", out); case["truth"] = t
            if t.get("hang") or t.get("driverError"): print("hang/driver", case["id"], case["damageClass"], t.get("driverError"), flush=True)
            dump(case, f"{D}/cases/{case['id']}{suffix}.json" if not suffix else f"{tmp}/{case['id']}.json"); made += 1; shutil.rmtree(out, ignore_errors=True)
        print(f"{base}: {made}/{len(rec)} after {time.time() - t00:.0f}s", flush=True)
    print("done", v, base, len(rec), flush=True)
if __name__ == "__main__":
    import argparse
    p = argparse.ArgumentParser(); p.add_argument("version"); p.add_argument("base"); p.add_argument("seed", type=int); p.add_argument("split"); p.add_argument("--random", type=int, default=10); p.add_argument("--limit", type=int); p.add_argument("--alt", action="store_true"); p.add_argument("--suffix", default="")
    a = p.parse_args(); run(a.version, a.base, a.seed, a.split, a.random, a.limit, a.alt, a.suffix)
