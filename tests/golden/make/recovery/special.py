#!/usr/bin/env python3
"""special.py empty|retention VERSION...: nearly empty stores, and retention situations"""
import sys, os, json, shutil, tarfile, io, struct, time, random, glob, subprocess
import gen, apply_recipe
def go(v, name, split, specs, base, cfg, retention=None, props=()):
    D = gen.DEST[split]; tmp = f"{gen.W}/run/{name}"; shutil.rmtree(tmp, ignore_errors=True); os.makedirs(tmp); items = []; cs = []
    for i, (cls, d, e, c) in enumerate(specs):
        cid = f"{name}-{i:03d}"; out = f"{tmp}/{cid}"; case = dict(id=cid, version=v, base=base, damageClass=cls, description=d, configOverrides={**cfg, **c}, edits=e)
        apply_recipe.build(case, D + "/bases", out); case["abortPresent"] = os.path.exists(out + "/abort"); kv = dict(case["configOverrides"])
        if retention: kv["lab.retention"] = retention
        if props: case["systemProperties"] = dict(props)
        items.append((cid, out, kv)); cs.append((case, out))
    old = gen.java
    if props: gen.java = lambda v: old(v)[:1] + [f"-D{k}={x}" for k, x in props] + old(v)[1:]
    T = gen.batch(v, items, tmp); gen.java = old; n = 0
    for case, out in cs:
        t = T.get(case["id"])
        if t is None: print("no truth", case["id"], flush=True); continue
        case["config"] = t.pop("config", None); case["log"] = gen.loglines(out + ".truth.log", out); case["truth"] = t; gen.dump(case, f"{D}/cases/{case['id']}.json"); n += 1
        if "driverError" in t or "hang" in t: print("bad", case["id"], t.get("driverError"), flush=True)
    print(name, n, "of", len(specs), flush=True)
def empty(v):
    for split, fs, cq, p in (("first", 65536, 1200, "s"), ("second", 131072, 2000, "h")):
        D = gen.DEST[split]; os.makedirs(D + "/bases", exist_ok=True)
        if not os.path.exists(D + "/bases/empty.tar.gz"):
            with tarfile.open(D + "/bases/empty.tar.gz", "w:gz") as t: i = tarfile.TarInfo("."); i.type = tarfile.DIRTYPE; i.mode = 0o755; t.addfile(i)
            json.dump(dict(mode="empty directory", config={}), open(D + "/bases/empty.json", "w"))
        ab = dict(op="create", path="abort"); z = "0" * 20; ts = struct.pack(">q", 1795273180000 if p == "s" else 1795273990000).hex(); unit = struct.pack(">qiq", 100 if p == "s" else 0, 200, 5).hex()
        S = [("store.empty_dir", "empty directory", [], {}), ("store.abort_only", "only an abort file", [ab], {}), ("store.abort_and_checkpoint", "abort and a zero checkpoint", [ab, dict(op="create", path="checkpoint", length=4096)], {}),
             ("store.checkpoint_only", "a checkpoint with timestamps and nothing else", [dict(op="create", path="checkpoint", hex=ts * 3, length=4096)], {}), ("store.abort_and_checkpoint", "abort, a checkpoint with timestamps, nothing else", [ab, dict(op="create", path="checkpoint", hex=ts * 3, length=4096)], {}),
             ("store.blank_file", "one all-zero commitlog file, no abort", [dict(op="create", path="commitlog/" + z, length=fs)], {}), ("store.blank_file", "one all-zero commitlog file, abort present", [ab, dict(op="create", path="commitlog/" + z, length=fs)], {}),
             ("store.blank_files", "two all-zero commitlog files, abort present", [ab, dict(op="create", path="commitlog/" + z, length=fs), dict(op="create", path="commitlog/%020d" % fs, length=fs)], {}), ("store.blank_file_offset", "one all-zero commitlog file that does not start at 0", [dict(op="create", path="commitlog/%020d" % (5 * fs), length=fs)], {}),
             ("store.cq_only", "one queue unit without a commitlog, no abort", [dict(op="create", path="consumequeue/T/0/" + z, hex=unit, length=cq)], {}), ("store.cq_only", "one queue unit without a commitlog, abort present", [ab, dict(op="create", path="consumequeue/T/0/" + z, hex=unit, length=cq)], {}),
             ("store.cq_and_blank_file", "one queue unit and an all-zero commitlog file, no abort", [dict(op="create", path="commitlog/" + z, length=fs), dict(op="create", path="consumequeue/T/0/" + z, hex=unit, length=cq)], {}), ("store.cq_and_blank_file", "one queue unit and an all-zero commitlog file, abort present", [ab, dict(op="create", path="commitlog/" + z, length=fs), dict(op="create", path="consumequeue/T/0/" + z, hex=unit, length=cq)], {}),
             ("store.empty_dirs", "empty commitlog, consumequeue and index directories", [dict(op="mkdir", path=x) for x in ("commitlog", "consumequeue", "index")], {}), ("store.one_byte_tail", "a commitlog file of which only the last byte is not zero, abort present", [ab, dict(op="create", path="commitlog/" + z, length=fs), dict(op="write", path="commitlog/" + z, offset=fs - 1, hex="7f")], {})]
        go(v, f"{p}{v.replace('.', '')}-empty", split, S, "empty", dict(mappedFileSizeCommitLog=str(fs), mappedFileSizeConsumeQueue=str(cq), maxHashSlotNum="100", maxIndexNum="700"))
def retention(v):
    p3 = v.replace(".", "")
    for split, p in (("first", "s"), ("second", "h")):
        D = gen.DEST[split]
        for kind in ("clean", "halt-async"):
            base = f"{p}{p3}-{kind}"; 
            if not os.path.exists(f"{D}/bases/{base}.json"): continue
            bc = json.load(open(f"{D}/bases/{base}.json"))["config"]
            with tarfile.open(f"{D}/bases/{base}.tar.gz") as t: cl = sorted(x.name[2:] for x in t.getmembers() if x.isfile() and "/commitlog/" in x.name)
            h = time.localtime().tm_hour; now = "%02d" % h; other = "%02d" % ((h + 7) % 24); age = lambda hs: [dict(op="mtime", path=f, hoursAgo=a) for f, a in zip(cl, hs)]; n = len(cl)
            S = [("all_old_at_hour", "every file past its time, deleteWhen is this hour", age([100] * n), dict(fileReservedTime="72", deleteWhen=now)),
                 ("first_three_old", "only the three oldest files past their time", age([100] * 3 + [10] * (n - 3)), dict(fileReservedTime="72", deleteWhen=now))]
            if kind == "clean": S += [("all_old_wrong_hour", "every file past its time, deleteWhen is another hour", age([100] * n), dict(fileReservedTime="72", deleteWhen=other)),
                 ("all_old_disk", "every file past its time, another hour, disk use above diskMaxUsedSpaceRatio", age([100] * n), dict(fileReservedTime="72", deleteWhen=other, diskMaxUsedSpaceRatio="10")),
                 ("none_old_disk", "no file past its time, disk use above diskMaxUsedSpaceRatio", age([100] * n), dict(fileReservedTime="200", deleteWhen=other, diskMaxUsedSpaceRatio="10")),
                 ("first_young", "the oldest file is young, the next three are old", age([1] + [100] * 3 + [10] * (n - 4)), dict(fileReservedTime="72", deleteWhen=now)),
                 ("boundary", "one file 36 s past its time, the next 36 s before it", age([72.01, 71.99] + [1] * (n - 2)), dict(fileReservedTime="72", deleteWhen=now)),
                 ("hour_list", "deleteWhen is a list that holds this hour", age([60, 50, 49, 47] + [1] * (n - 4)), dict(fileReservedTime="48", deleteWhen=other + ";" + now)),
                 ("half_old_disk_no_force", "half of the files past their time, disk above ratio, cleanFileForciblyEnable=false", age([100] * (n // 2) + [1] * (n - n // 2)), dict(fileReservedTime="72", deleteWhen=other, diskMaxUsedSpaceRatio="10", cleanFileForciblyEnable="false"))]
            if not os.environ.get("ONLY_FORCE"): go(v, f"{base}-retention", split, [("retention." + a, b, [dict(op="delete", path="abort")] + e, c) for a, b, e, c in S], base, bc, retention="3" if kind == "halt-async" else "2")
            if kind == "clean":
                pr = (("rocketmq.broker.diskSpaceCleanForciblyRatio", "0.05"), ("rocketmq.broker.diskSpaceWarningLevelRatio", "0.95"))
                go(v, f"{base}-retentionforce", split, [("retention.force_ratio", "files not past their time, force ratio set to 0.05 by system property", [dict(op="delete", path="abort")] + age([10] * n), dict(fileReservedTime="72", deleteWhen=other, diskMaxUsedSpaceRatio="10")),
                   ("retention.force_ratio_disabled", "same, cleanFileForciblyEnable=false", [dict(op="delete", path="abort")] + age([10] * n), dict(fileReservedTime="72", deleteWhen=other, diskMaxUsedSpaceRatio="10", cleanFileForciblyEnable="false"))], base, bc, retention="2", props=pr)
def v551(v):
    """settings that only 5.5.1 has"""
    for split, p, n in (("first", "s", 5), ("second", "h", 3)):
        D = gen.DEST[split]; base = f"{p}551-clean"; bc = json.load(open(f"{D}/bases/{base}.json"))["config"]; gen.FS = FS = int(bc["mappedFileSizeCommitLog"]); gen.CQ = int(bc["mappedFileSizeConsumeQueue"]); rnd = random.Random(77 + n)
        root = f"{gen.W}/run/{base}-v551base"; shutil.rmtree(root, ignore_errors=True); apply_recipe.build({"base": base, "edits": []}, D + "/bases", root); R = gen.walk(root); fl = sorted({r["f"] for r in R}); last = fl[-1]
        ab = dict(op="create", path="abort"); noab = dict(op="delete", path="abort"); pick = lambda f: rnd.choice([r for r in R if r["f"] == f and r["bl"] > 40]); S = []; nocp = dict(op="delete", path="checkpoint"); nocq = dict(op="delete", path="consumequeue")
        for m in ("1", "2", "4", "0"): S.append(("config.recover_max", f"checkpoint deleted, commitLogRecoverMaxNum={m}, abort present", [nocp, ab], dict(commitLogRecoverMaxNum=m))); S.append(("config.recover_max", f"consumequeue deleted, commitLogRecoverMaxNum={m}, no abort", [nocq, noab], dict(commitLogRecoverMaxNum=m)))
        r = pick(last); bad = dict(op="write", path=last, offset=r["p"] + 28, hex="0000000000000007")
        for o in ("true", "false"): S.append(("config.check_offset", f"own offset of a record overwritten, checkCommitLogOffsetOnRecover={o}, abort present", [bad, ab], dict(checkCommitLogOffsetOnRecover=o)))
        S.append(("config.check_offset", "own offset of a record overwritten, checkCommitLogOffsetOnRecover=true, no abort", [bad, noab], dict(checkCommitLogOffsetOnRecover="true")))
        S.append(("config.accelerated", "enableAcceleratedRecovery=true, abort present", [ab], dict(enableAcceleratedRecovery="true"))); S.append(("config.accelerated", "enableAcceleratedRecovery=true, checkpoint deleted, abort present", [nocp, ab], dict(enableAcceleratedRecovery="true")))
        for k in range(n):
            f = rnd.choice(fl[1:]); r = rnd.choice([x for x in R if x["f"] == f]); f0 = [x for x in R if x["f"] == f][0]
            S.append(("checkpoint.logics_offset", "logicsPhysicalOffset in the checkpoint points to a record, abort present", [dict(op="write", path="checkpoint", offset=40, hex="%016x" % (int(os.path.basename(f)) + r["p"])), ab], {}))
            S.append(("checkpoint.logics_offset", "as before, and enableAcceleratedRecovery=true", [dict(op="write", path="checkpoint", offset=40, hex="%016x" % (int(os.path.basename(f)) + r["p"])), ab], dict(enableAcceleratedRecovery="true")))
            S.append(("file_head.body_flip", "first record of a file has a bad body CRC, logicsPhysicalOffset lies in that file, abort present", [dict(op="flip", path=f, offset=f0["p"] + 88 + f0["bl"] // 2, hex="04"), dict(op="write", path="checkpoint", offset=40, hex="%016x" % (int(os.path.basename(f)) + r["p"])), ab], {}))
        S.append(("checkpoint.logics_offset_zero", "logicsPhysicalOffset zero, logics timestamp kept, abort present", [dict(op="write", path="checkpoint", offset=40, hex="0" * 16), ab], {}))
        S.append(("checkpoint.logics_offset_future", "logicsPhysicalOffset past the log end, abort present", [dict(op="write", path="checkpoint", offset=40, hex="%016x" % (FS * 1000)), ab], {}))
        go(v, f"{base}-v551", split, S, base, bc)
def emptylast(v):
    """a queue whose last file holds no unit, while the queues end before the log (the last record makes no unit)"""
    for split, p in (("first", "s"), ("second", "h")):
        D = gen.DEST[split]; base = f"{p}{v.replace('.', '')}-clean"; bc = json.load(open(f"{D}/bases/{base}.json"))["config"]; CQ = int(bc["mappedFileSizeConsumeQueue"])
        root = f"{gen.W}/run/{base}-elbase"; shutil.rmtree(root, ignore_errors=True); apply_recipe.build({"base": base, "edits": []}, D + "/bases", root); R = gen.walk(root); r = R[-1]; po = int(os.path.basename(r["f"])) + r["p"]
        cqd = sorted(glob.glob(root + "/consumequeue/*/*")); big = max(cqd, key=lambda d: (len(os.listdir(d)), d)); bf = sorted(os.listdir(big)); rel = lambda x: os.path.relpath(x, root); e = [dict(op="zero", path=rel(big) + "/" + bf[-1], offset=0, length=CQ)]
        e2 = [dict(op="write", path=r["f"], offset=r["p"] + 36, hex="00000004")]
        for q in cqd:
            for f in sorted(os.listdir(q)):
                b = open(q + "/" + f, "rb").read()
                for k in range(len(b) // 20):
                    o, s, _ = struct.unpack_from(">qiq", b, k * 20)
                    if o == po and s > 0: e2.append(dict(op="zero", path=rel(q) + "/" + f, offset=k * 20, length=20))
        S = []
        for t, a in (("no abort", [dict(op="delete", path="abort")]), ("abort present", [dict(op="create", path="abort")])): S.append(("cq.empty_last_file", "last queue file all zero and the last record changed to prepared without a unit, " + t, a + e + e2, {})); S.append(("cq.last_record_prepared", "only the last record changed to prepared without a unit, " + t, a + e2, {}))
        go(v, f"{base}-emptylast", split, S, base, bc)
if __name__ == "__main__":
    f = dict(empty=empty, retention=retention, v551=v551, emptylast=emptylast)[sys.argv[1]]
    for v in sys.argv[2:]: f(v)
