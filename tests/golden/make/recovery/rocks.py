#!/usr/bin/env python3
"""rocks.py VERSION...: stores whose queues are in RocksDB, shut down and killed, their damages, and moves from files to RocksDB and back.
rocks.py apart VERSION...: the database of a recorded base in consumequeue_rocksdb/, with and without the setting that says so (5.5.0)."""
import json, os, random, shutil, subprocess, sys
from concurrent.futures import ThreadPoolExecutor
import gen, apply_recipe
D, FS = "out/first", 131072
SETTINGS = {"storeType": "defaultRocksDB", "mappedFileSizeCommitLog": str(FS), "mappedFileSizeConsumeQueue": "2000", "maxHashSlotNum": "100", "maxIndexNum": "300"}
STORES_PER_PROCESS = {"5.5.1": 1, "5.5.0": 1, "5.4.0": 1}
"""rocksdbjni 8.4.4 ends a process that opens several stores: the options of one are collected while it works."""
EVERY_FIFTH = ("5.4.0", "5.5.0")
"""Versions whose rules lie between recorded ones: a fifth of the cases."""
LEFT_OUT = {"q533k-039": "two index files that were made in one millisecond got one name"}
FILE_BASES = {"5.3.1": "r531-clean-15000", "5.3.3": "r533-clean-31000", "5.5.1": "r551-clean-13002", "5.4.0": "r533-clean-31000", "5.5.0": "r533-clean-31000"}
def write(v, folder, mode, seed, count, settings=SETTINGS):
    return subprocess.run(gen.java(v) + ["write", folder, mode, str(seed), str(count)] + [f"{k}={x}" for k, x in settings.items()], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
def base(v, name, parts, settings=SETTINGS, later=(), later_settings=SETTINGS):
    """parts: one run of a broker after another: (mode, seed, count); `later` ones with other settings"""
    folder = f"{gen.W}/stores/{name}"; shutil.rmtree(folder, ignore_errors=True); os.makedirs(folder)
    for mode, seed, count in parts:
        assert write(v, folder, mode, seed, count, settings) == (9 if mode == "halt" else 0), (name, mode)
    for mode, seed, count in later: assert write(v, folder, mode, seed, count, later_settings) == 0, (name, mode)
    os.path.exists(folder + "/lock") and os.remove(folder + "/lock"); os.makedirs(D + "/bases", exist_ok=True); os.makedirs(D + "/cases", exist_ok=True); shutil.rmtree(f"{folder}/rocksdbstore", ignore_errors=True)
    subprocess.run(["tar", "czf", f"{D}/bases/{name}.tar.gz", "--sort=name", "--owner=0", "--group=0", "-C", folder, "."], check=True)
    json.dump(dict(version=v, mode=parts[-1][0], seed=parts[-1][1], count=parts[-1][2], config=SETTINGS), open(f"{D}/bases/{name}.json", "w"), indent=1)
def log_damage(R, rnd):
    """(class, description, edits, settings) of damages to the log and to what stands beside it"""
    files = sorted({r["f"] for r in R}); last = files[-1]; out = []; add = lambda cls, desc, *e, **c: out.append((cls, desc, list(e), c))
    zero = lambda r, f: dict(op="zero", path=f, offset=r["p"], length=FS - r["p"])
    add("none", "no damage")
    for part in (0.05, 0.3, 0.6, 0.95):
        at = [r for r in R if r["f"] == last]; r = at[int(len(at) * part)]; add("rocks.log_cut", f"log zeroed from a record on, {part} of the last file", zero(r, last))
    for f in files[-3:-1]:
        at = [r for r in R if r["f"] == f]; r = at[int(len(at) * rnd.uniform(0.2, 0.9))]; add("rocks.log_cut_before", "log zeroed from a record of an earlier file on", zero(r, f), *[dict(op="delete", path=x) for x in files if x > f])
    r = rnd.choice([r for r in R if r["f"] == files[0]]); add("rocks.log_cut_first", "log zeroed from a record of the first file on", zero(r, files[0]), *[dict(op="delete", path=x) for x in files[1:]])
    for tag, f in (("last", last), ("third_last", files[-3]), ("oldest", files[0])):
        r = rnd.choice([r for r in R if r["f"] == f and r["bl"] > 40]); add("rocks.body_flip", f"bit flip in a body, {tag} file", dict(op="flip", path=f, offset=r["p"] + 88 + r["bl"] // 2, hex="04"))
    for nm, o, h in (("magic", 4, "00000001"), ("storetime_zero", 56, "0" * 16), ("size_zero", 0, "00000000")):
        r = [r for r in R if r["f"] == last][0]; add("rocks.file_head", f"first record of the last file: {nm}", dict(op="write", path=last, offset=o, hex=h))
    add("rocks.missing_first", "first log file missing", dict(op="delete", path=files[0])); add("rocks.missing_first_two", "first two log files missing", *[dict(op="delete", path=f) for f in files[:2]])
    add("rocks.missing_middle", "a middle log file missing", dict(op="delete", path=files[len(files) // 2])); add("rocks.missing_last", "last log file with messages missing", dict(op="delete", path=last))
    add("rocks.no_commitlog", "all log files missing", dict(op="delete", path="commitlog")); add("rocks.checkpoint_deleted", "checkpoint deleted", dict(op="delete", path="checkpoint"))
    add("rocks.config", "messageIndexSafe=true", messageIndexSafe="true"); add("rocks.config", "duplicationEnable=true", duplicationEnable="true"); add("rocks.config", "recheckReputOffsetFromCq=true", recheckReputOffsetFromCq="true"); add("rocks.config", "flushDiskType=SYNC_FLUSH", flushDiskType="SYNC_FLUSH")
    return out
def database_damage(root):
    out = []; add = lambda cls, desc, *e, **c: out.append((cls, desc, list(e), c)); names = sorted(os.listdir(root + "/consumequeue")); pick = lambda end: [n for n in names if n.endswith(end)]
    add("rocks.database_deleted", "the database deleted", dict(op="delete", path="consumequeue")); add("rocks.database_deleted_recheck", "the database deleted, recheckReputOffsetFromCq=true", dict(op="delete", path="consumequeue"), recheckReputOffsetFromCq="true")
    add("rocks.current_deleted", "CURRENT deleted", dict(op="delete", path="consumequeue/CURRENT")); add("rocks.current_garbage", "CURRENT names no file", dict(op="create", path="consumequeue/CURRENT", hex=b"MANIFEST-000099\n".hex()))
    m = [n for n in names if n.startswith("MANIFEST")][-1]; add("rocks.manifest_flipped", "a byte of the MANIFEST flipped", dict(op="flip", path="consumequeue/" + m, offset=20, hex="ff"))
    for n in pick(".sst"): add("rocks.table_deleted", f"{n} deleted", dict(op="delete", path="consumequeue/" + n)); add("rocks.table_cut", f"{n} cut to 900 bytes", dict(op="truncate", path="consumequeue/" + n, length=900))
    add("rocks.queues_in_files", "started with storeType=default", storeType="default")
    return out
def both(specs):
    for cls, d, e, c in specs:
        yield cls, d + ", no abort", [dict(op="delete", path="abort")] + e, c
        yield cls, d + ", abort present", e + [dict(op="create", path="abort")], c
def chunk(v, cases):
    """One process for these cases; what it gave no truth of is made again from the start."""
    for attempt in range(3):
        left = [case for case in cases if "truth" not in case]
        if not left: return
        tmp = f"{gen.W}/run/{left[0]['id']}"; shutil.rmtree(tmp, ignore_errors=True); os.makedirs(tmp)
        for case in left: apply_recipe.build(case, D + "/bases", f"{tmp}/{case['id']}"); case["abortPresent"] = os.path.exists(f"{tmp}/{case['id']}/abort")
        found = gen.batch(v, [(case["id"], f"{tmp}/{case['id']}", case["configOverrides"]) for case in left], tmp, attempts=1)
        for case in left:
            if case["id"] in found: case["config"] = found[case["id"]].pop("config", None); case["truth"] = found[case["id"]]
    print("no truth", [case["id"] for case in cases if "truth" not in case], flush=True)
def go(v, name, base_name, specs):
    config = json.load(open(f"{D}/bases/{base_name}.json"))["config"]
    cases = [dict(id=f"{name}-{i:03d}", version=v, base=base_name, damageClass=cls, description=d, configOverrides={**config, **c}, edits=e) for i, (cls, d, e, c) in enumerate(both(specs)) if v not in EVERY_FIFTH or name.endswith("m") or i % 5 == (0 if name.endswith("k") else 3)]
    size = STORES_PER_PROCESS.get(v, len(cases))
    with ThreadPoolExecutor(3) as pool: list(pool.map(lambda at: chunk(v, cases[at : at + size]), range(0, len(cases), size)))
    for case in cases:
        if case["truth"].get("hang"): print("hangs, left out", case["id"], flush=True)
        gen.dump(case, f"{D}/cases/{case['id']}.json")
    print(name, "done", flush=True)
def version(v):
    short = v.replace(".", ""); clean, killed = f"r{short}-rocks", f"r{short}-rocks-killed"; rnd = random.Random(17)
    if not os.path.exists(f"{D}/bases/{clean}.tar.gz"): base(v, clean, [("clean", 2101, 640)])
    if not os.path.exists(f"{D}/bases/{killed}.tar.gz"): base(v, killed, [("clean", 2102, 400), ("halt", 2105, 0)])
    for name in (clean, killed):
        root = f"{gen.W}/run/{name}-root"; shutil.rmtree(root, ignore_errors=True); apply_recipe.build({"base": name, "edits": []}, D + "/bases", root); R = gen.walk(root)
        go(v, f"q{short}{'' if name == clean else 'k'}", name, log_damage(R, rnd) + database_damage(root))
    files = FILE_BASES[v]
    for end in (".tar.gz", ".json"): shutil.copy(f"../../recovery/bases/{files}{end}", f"{D}/bases/")
    go(v, f"q{short}m", files, [("rocks.from_files", "a store with queue files started with storeType=defaultRocksDB", [], {"storeType": "defaultRocksDB"}), ("rocks.from_files_recheck", "the same with recheckReputOffsetFromCq=true", [], {"storeType": "defaultRocksDB", "recheckReputOffsetFromCq": "true"}),
        ("rocks.from_files_first_gone", "the same, first log file missing", [dict(op="delete", path="commitlog/" + "0" * 20)], {"storeType": "defaultRocksDB"})])
    pack(v, bases=(clean, killed))
def pack(v, part="", name=None, bases=()):
    import lzma, glob
    with lzma.open(f"../../recovery/rocksdb/cases/{name or v}.jsonl.xz", "wt", encoding="utf-8", preset=9) as out:
        for path in sorted(glob.glob(f"{D}/cases/q{v.replace('.', '')}{part}*.json")):
            case = json.load(open(path)); case.pop("log", None)
            if not case["truth"].get("hang") and case["id"] not in LEFT_OUT: out.write(json.dumps(case, separators=(",", ":"), ensure_ascii=False) + "\n")
    for name in bases:
        for end in (".tar.gz", ".json"): shutil.copy(f"{D}/bases/{name}{end}", "../../recovery/rocksdb/bases/")
def apart(v):
    name = f"r{v.replace('.', '')}-rocks"; root = f"{gen.W}/run/{name}-root"; shutil.rmtree(root, ignore_errors=True); os.makedirs(D + "/cases", exist_ok=True); os.makedirs(D + "/bases", exist_ok=True)
    for end in (".tar.gz", ".json"): shutil.copy(f"../../recovery/rocksdb/bases/{name}{end}", f"{D}/bases/")
    apply_recipe.build({"base": name, "edits": []}, D + "/bases", root); said = {"useSeparateStorePathForRocksdbCQ": "true"}
    copied = [dict(op="copy", path="consumequeue/" + f, to="consumequeue_rocksdb/" + f) for f in sorted(os.listdir(root + "/consumequeue"))]; moved = copied + [dict(op="delete", path="consumequeue")]
    go(v, f"q{v.replace('.', '')}a", name, [("rocks.apart", "the database in consumequeue_rocksdb/, said so", moved, said), ("rocks.apart", "the database in consumequeue_rocksdb/, not said so", moved, {}), ("rocks.apart", "a database in both folders", copied, {}),
        ("rocks.apart", "a database in both folders, the second said", copied, said), ("rocks.apart", "the database in consumequeue/, the other folder said", [], said)])
    pack(v, "a", f"{v}-apart")
def combined(v):
    """The database beside the files: new, as far as they are, and behind."""
    short = v.replace(".", ""); level, behind = f"r{short}-combined", f"r{short}-combined-behind"; both_ = dict(SETTINGS, storeType="default", rocksdbCQDoubleWriteEnable="true"); files = dict(both_, rocksdbCQDoubleWriteEnable="false")
    os.makedirs(D + "/cases", exist_ok=True)
    base(v, level, [("clean", 2201, 600)], both_); base(v, behind, [("clean", 2202, 200)], both_, [("clean", 2203, 500)], files)
    for name, tag in ((level, "l"), (behind, "b")):
        json.dump(dict(json.load(open(f"{D}/bases/{name}.json")), config=both_), open(f"{D}/bases/{name}.json", "w"), indent=1)
        root = f"{gen.W}/run/{name}-root"; shutil.rmtree(root, ignore_errors=True); apply_recipe.build({"base": name, "edits": []}, D + "/bases", root); R = gen.walk(root); top = sorted(os.listdir(root + "/consumequeue")); data = [n for n in top if not os.path.isdir(f"{root}/consumequeue/{n}")]; queues = [n for n in top if n not in data]
        r = [r for r in R if r["f"] == R[-1]["f"]]; r = r[len(r) // 3]
        specs = [("combined.none", "no damage", [], {}), ("combined.no_database", "the database deleted", [dict(op="delete", path="consumequeue/" + n) for n in data], {}), ("combined.no_queue", "a topic's queue files deleted", [dict(op="delete", path="consumequeue/" + queues[0])], {}),
            ("combined.no_queues", "all queue files deleted", [dict(op="delete", path="consumequeue/" + n) for n in queues], {}), ("combined.checkpoint", "checkpoint deleted", [dict(op="delete", path="checkpoint")], {}), ("combined.log_cut", "log zeroed from a record of the last file on", [dict(op="zero", path=r["f"], offset=r["p"], length=FS - r["p"])], {}),
            ("combined.refused", "CURRENT names no file", [dict(op="create", path="consumequeue/CURRENT", hex=b"MANIFEST-000099\n".hex())], {}), ("combined.search", "no file more is searched for the database", [], {"combineCQMaxExtraSearchCommitLogFiles": "0"})]
        go(v, f"q{short}c{tag}", name, specs)
    pack(v, "c", f"{v}-combined", (level, behind))
R, FEW = "defaultRocksDB", ("combined.none", "combined.log_cut", "combined.no_database", "combined.refused")
OTHERWISE = {
    "rocks alone": ({"combineCQLoadingCQTypes": R, "combineCQPreferCQType": R, "combineAssignOffsetCQType": R}, (*FEW, "combined.no_queues")),
    "not loaded": ({"combineCQLoadingCQTypes": "default", "combineCQPreferCQType": R}, ("combined.none",)),
    "rocks decides": ({"combineCQPreferCQType": R, "combineAssignOffsetCQType": R}, None),
    "rocks answers": ({"combineCQPreferCQType": R, "combineAssignOffsetCQType": "default"}, None),
    "files alone": ({"combineCQLoadingCQTypes": "default"}, FEW),
}
"""Which stores of queues are combined, which one answers and which one decides; and the classes of damage, None for all."""
LIGHT, LMQ, SOME = {"enableLmq": "true", "enableMultiDispatch": "true"}, {"combineCQUseRocksdbForLmq": "true"}, {"rocksdbCQSelectiveDoubleWriteEnable": "true"}
PARTED = {
    "light": (LMQ, None),
    "light rocks answers": ({**LMQ, "combineCQPreferCQType": R}, (*FEW, "combined.no_queues", "combined.search")),
    "some": (SOME, None),
}
"""Settings that keep queues of some topics in one store alone, as in OTHERWISE."""
def light(v):
    """Light queues in both stores at first; then two runs with the files alone, so that the database is behind."""
    name = f"r{v.replace('.', '')}-combined-light"; folder = f"{gen.W}/stores/{name}"; both_ = {**SETTINGS, **LIGHT, "storeType": "default", "rocksdbCQDoubleWriteEnable": "true"}
    shutil.rmtree(folder, ignore_errors=True); os.makedirs(folder); os.makedirs(D + "/bases", exist_ok=True); os.makedirs(D + "/cases", exist_ok=True)
    for seed, double in ((2301, "true"), (2302, "false"), (2303, "false")):
        told = [f"{k}={x}" for k, x in {**both_, "rocksdbCQDoubleWriteEnable": double, "lab.light": "1", "lab.first": str(seed * 1000)}.items()]
        assert subprocess.run(gen.java(v) + ["vary", folder, "clean", str(seed), "120", "1500"] + told, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0, seed
        os.path.exists(folder + "/lock") and os.remove(folder + "/lock")
    shutil.rmtree(f"{folder}/rocksdbstore", ignore_errors=True); subprocess.run(["tar", "czf", f"{D}/bases/{name}.tar.gz", "--sort=name", "--owner=0", "--group=0", "-C", folder, "."], check=True)
    json.dump(dict(version=v, mode="clean", seed=2301, count=360, config=both_), open(f"{D}/bases/{name}.json", "w"), indent=1)
    top = sorted(os.listdir(folder + "/consumequeue")); data = [n for n in top if not os.path.isdir(f"{folder}/consumequeue/{n}")]; queues = [n for n in top if n not in data]
    gone = lambda names: [dict(op="delete", path="consumequeue/" + n) for n in names]
    damages = [("none", []), ("no_database", gone(data)), ("no_queues", gone(queues)), ("no_light_files", gone(n for n in queues if n.startswith("%LMQ%"))), ("checkpoint", [dict(op="delete", path="checkpoint")])]
    go(v, f"q{v.replace('.', '')}cp", name, [(f"combined.{what}_{how.replace(' ', '_')}", f"{what}; {how}", edits, PARTED[how][0]) for what, edits in damages for how in ("light", "light rocks answers")])
    return name
def parted(v): otherwise(v, PARTED, "parted", light(v))
def otherwise(v, settings_of=OTHERWISE, called="otherwise", *bases):
    """The cases of `combined` again, with other settings; of the base that is level three classes."""
    import lzma
    with lzma.open(f"../../recovery/rocksdb/cases/{v}-combined.jsonl.xz", "rt") as lines: recorded = [json.loads(line) for line in lines]
    for case in recorded:
        for end in (".tar.gz", ".json"): shutil.copy(f"../../recovery/rocksdb/bases/{case['base']}{end}", f"{D}/bases/")
        for name, (settings, classes) in settings_of.items():
            told = case["damageClass"]
            if not case["base"].endswith("behind") and told not in ("combined.none", "combined.log_cut", "combined.no_queues") or classes and told not in classes: continue
            again = {key: case[key] for key in ("version", "base", "edits")} | dict(id=f"{case['id']}-{name.replace(' ', '-')}", damageClass=f"{told}_{name.replace(' ', '_')}", description=f"{case['description']}; {name}", configOverrides={**case["configOverrides"], **settings})
            chunk(v, [again]); gen.dump(again, f"{D}/cases/{again['id']}.json")
    pack(v, "c*-", f"{v}-combined-{called}", bases)
BEFORE = {"both": {"combineCQPreferCQType": "default", "combineAssignOffsetCQType": "default"}, "rocks answers": OTHERWISE["rocks answers"][0]}
def before(v):
    """The store of 5.5.1 whose database is behind, started with an earlier version, without that database and with it."""
    import lzma
    with lzma.open("../../recovery/rocksdb/cases/5.5.1-combined.jsonl.xz", "rt") as lines: recorded = [json.loads(line) for line in lines]
    for case in recorded:
        for end in (".tar.gz", ".json"): shutil.copy(f"../../recovery/rocksdb/bases/{case['base']}{end}", f"{D}/bases/")
        told = case["damageClass"]
        if told not in ("combined.none", "combined.no_database") or not case["base"].endswith("behind"): continue
        for name, settings in BEFORE.items():
            again = {key: case[key] for key in ("base", "edits")} | dict(version=v, id=f"{case['id'].replace('q551', 'q' + v.replace('.', ''))}-{name.replace(' ', '-')}", damageClass=f"{told}_{name.replace(' ', '_')}", description=f"{case['description']}; {name}", configOverrides={**case["configOverrides"], **settings})
            chunk(v, [again]); gen.dump(again, f"{D}/cases/{again['id']}.json")
    pack(v, "c*-", f"{v}-combined")
if sys.argv[1] == "before":
    for v in sys.argv[2:]: before(v)
elif sys.argv[1] == "parted":
    for v in sys.argv[2:]: parted(v)
elif sys.argv[1] == "otherwise":
    for v in sys.argv[2:]: otherwise(v)
elif sys.argv[1] == "combined":
    for v in sys.argv[2:]: combined(v)
elif sys.argv[1] == "apart":
    for v in sys.argv[2:]: apart(v)
else:
    for v in sys.argv[1:]: version(v)
