"""refused_starts.py DIR OUT VERSION…: what a start that the store stops takes away of config/, by real brokers.

DIR has store/ and truth/ of a store with timers and delayed messages (tests/golden/stores/5.3.3-pop, unpacked); each start has a copy in which a file is cut short, or a folder in the
place of config/timercheck. `--only check` records that alone.
"""
import json, os, shutil, struct, subprocess, sys
from pathlib import Path

LAB, LAB2, HERE = Path(os.environ.get("LAB", "lab")), Path(os.environ.get("LAB2", "lab2")), Path(__file__).resolve().parent
CUT = {"load": "consumequeue", "wheel": "timerwheel", "timer_log": "timerlog"}
STARTS = [("load", False), ("load", True), ("wheel", True), ("timer_log", True), ("check", True)]
KEPT = ("config/delayOffset.json", "config/timercheck")
OPEN = [w for m in ("java.lang", "java.nio", "java.util", "sun.nio.ch", "jdk.internal.ref", "java.io", "jdk.internal.misc") for w in ("--add-opens", f"java.base/{m}=ALL-UNNAMED")]


def cut(place):
    """The last file there ends 32 bytes early."""
    file = place if place.is_file() else max(place.rglob("0*"))
    os.truncate(file, file.stat().st_size - 32)


def held(store):
    """The kept files that are files."""
    return {name: (store / name).read_bytes() for name in KEPT if (store / name).is_file()}


def starts(version, stores, settings, has_timers):
    """What each start says, one after the other in one process; `cls` beside the first store has the classes."""
    work, confs = stores[0].parent, []
    for number, store in enumerate(stores):
        conf = settings | {"storePathRootDir": store, "storePathCommitLog": store / "commitlog", "listenPort": 19911, "brokerIP1": "127.0.0.1", "namesrvAddr": "127.0.0.1:1", "timerWheelEnable": str(has_timers).lower()}
        confs.append(work / f"conf{number}")
        confs[-1].write_text("".join(f"{k}={x}\n" for k, x in conf.items()))
    jars, logback = f"{work}/cls:{LAB2}/lib/{version}/*", HERE.parent / "recovery/rmq.logback.xml"
    java = ["java", "-Xmx500m", *OPEN, f"-Duser.home={work}", f"-Drmq.logback.configurationFile={logback}", "-cp", jars, "Refused", *map(str, confs)]
    told = subprocess.run(java, capture_output=True, text=True, timeout=60 + 90 * len(stores), env={**os.environ, "ROCKETMQ_HOME": str(work)}).stdout
    parts = [part.splitlines() for part in told.split("CONF ")[1:]]
    return [dict(line.split(" ", 1) for line in part if line.startswith(("INITIALIZE ", "SHUTDOWN ", "MEMORY "))) for part in parts]


if __name__ == "__main__":
    base, out, *versions = [word for word in sys.argv[1:] if word not in ("--only", "check")]
    chosen = STARTS[-1:] if "--only" in sys.argv else STARTS
    rows, settings = [], json.loads(Path(base, "truth/store_state.json").read_text())["settings"]
    for version in versions:
        work = LAB / "refused" / version
        shutil.rmtree(work, ignore_errors=True)
        (work / "cls").mkdir(parents=True)
        subprocess.run(["javac", "-nowarn", "-cp", f"{LAB2}/lib/{version}/*", "-d", work / "cls", HERE / "Refused.java"], check=True)
        for fails, has_timers in chosen if version >= "5" else STARTS[:1]:
            store = work / "store"
            shutil.rmtree(store, ignore_errors=True)
            shutil.copytree(f"{base}/store", store)
            if fails == "check":
                (store / KEPT[1]).unlink()
                (store / KEPT[1]).mkdir()
            else:
                cut(store / CUT[fails])
            before = held(store)
            (told,) = starts(version, [store], settings, has_timers)
            after = held(store)
            row = {"version": version, "fails": fails, "has_timers": has_timers, **{k.lower(): x for k, x in told.items() if k != "MEMORY"}}
            row["changed"] = [name for name in before if after[name] != before[name]]
            row["timercheck"] = struct.unpack(">4q", after.get(KEPT[1], bytes(32))[:32])
            rows.append(row)
            print(row, flush=True)
    Path(out).write_text("".join(json.dumps(row) + "\n" for row in rows))
