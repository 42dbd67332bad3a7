"""rocks_starts.py VERSION DIR OUT: what the real store makes of copies of a store of Rocks.java whose rocksdbstore is behind, empty or gone.

DIR has store/ and truth/ as mk.sh left them; every copy lacks one queue. Needs rocksdict; the classes as for recover.sh.
"""
import json, os, shutil, struct, subprocess, sys
from rocksdict import BlockBasedOptions, Options, Rdict

LAB = os.environ.get("LAB", "lab")
LOST = "consumequeue/Rocks-A/0"
CASES = {"far": (), "behind": ("note 9000",), "none": ("no note",), "gone": ("gone",), "crash": ("abort", "note 9000"), "crash-far": ("abort",), "off": ("off",), "crash-off": ("abort", "off")}
OPEN = " ".join(f"--add-opens java.base/{p}=ALL-UNNAMED" for p in "java.nio java.util java.lang java.lang.reflect java.net java.text java.util.concurrent java.math java.io sun.nio.ch jdk.internal.ref".split())


def options():
    """As the broker's RocksDB can read them."""
    found, tables = Options(raw_mode=True), BlockBasedOptions()
    tables.set_format_version(5)
    found.set_block_based_table_factory(tables)
    return found


def prepare(root, steps):
    shutil.rmtree(f"{root}/{LOST}")
    for step in steps:
        if step == "abort":
            open(f"{root}/abort", "w").close()
        elif step == "gone":
            shutil.rmtree(f"{root}/rocksdbstore")
        elif step != "off":
            database = Rdict(f"{root}/rocksdbstore", options(), column_families={name: options() for name in ("default", "timer", "trans")})
            if step == "no note":
                del database[b"lastOffsetPy"]
            else:
                database[b"lastOffsetPy"] = struct.pack(">q", int(step.split()[1]))
            database.close()


if __name__ == "__main__":
    version, base, out = sys.argv[1:]
    told, settings = [], {k: str(x) for k, x in json.load(open(f"{base}/truth/store_state.json"))["settings"].items()}
    settings |= {"transRocksDBEnable": "false", "timerRocksDBEnable": "false"}
    classes = f"{LAB}/cls/{version}-Recover:{LAB}/lib/{version}/*"
    for name, steps in CASES.items():
        work = f"{LAB}/rocks-starts/{version}-{name}"
        shutil.rmtree(work, ignore_errors=True)
        shutil.copytree(f"{base}/store", f"{work}/store")
        prepare(f"{work}/store", steps)
        chosen = settings | {"indexRocksDBEnable": str("off" not in steps).lower()}
        open(f"{work}/settings.properties", "w").write("".join(f"{k}={x}\n" for k, x in chosen.items()))
        start = f"exec timeout 60 java -Xmx400m {OPEN} -Duser.timezone=UTC -cp '{classes}' Recover {version} 1 {work} {work}/recovered.json {work}/store"
        subprocess.run(["unshare", "-n", "bash", "-c", f"ip link set lo up; {start}"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        real = json.load(open(f"{work}/recovered.json"))
        queues = {key: limits for key, limits in real["queues"].items() if limits[1]}
        told.append({"name": name, "steps": steps, "load": real["load"], "maxPhy": real["maxPhy"], "queues": queues})
    json.dump(told, open(out, "w"), indent=1)
