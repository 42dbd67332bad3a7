"""broken_files.py DIR OUT VERSION…: starts with one of three files of config/ broken that stop few brokers, by real brokers.

DIR has store/ and truth/ of a store with timers (tests/golden/stores/5.3.3-pop, unpacked). Its copies get a topicQueueMapping.json that a broker wrote and a
messageRequestMode.json of one group; each start has one of them, or timercheck, broken.
"""
import json, random, shutil, subprocess, sys
from pathlib import Path

from refused_starts import HERE, LAB, LAB2, starts

MAPPING, MODES, CHECK = "topicQueueMapping.json", "messageRequestMode.json", "timercheck"
GOOD = {
    MAPPING: (HERE.parents[1] / "static_topics/5.5.0" / MAPPING).read_bytes(),
    MODES: json.dumps({"messageRequestModeMap": {"T": {"G": {"consumerGroup": "G", "mode": "POP", "popShareQueueNum": 2, "topic": "T"}}}}).encode(),
}
JUNK = random.Random(1).randbytes(300)
BROKEN = {"good": None, "unreadable": JUNK, "empty": b"", "missing": "missing", "{}": b"{}", "[]": b"[]", "null": b"null"}
PAIRS = [
    ("unreadable", "good"), ("empty", "good"), ("missing", "good"), ("{}", "good"), ("null", "good"), ("unreadable", "missing"), ("unreadable", "empty"),
    ("unreadable", "unreadable"), ("empty", "unreadable"), ("missing", "unreadable"), ("empty", "empty"), ("missing", "missing"),
]
OF_CHECK = {"good": None, "unreadable": JUNK, "empty": b"", "missing": "missing", "cut to 20 bytes": 20, "a folder": "folder"}


def put(path, content, good):
    """A file as `content` says: None is good, a number that many bytes of it."""
    if content == "folder":
        path.unlink()
        path.mkdir()
    elif content == "missing":
        path.unlink(missing_ok=True)
    else:
        path.write_bytes(good if content is None else good[:content] if isinstance(content, int) else content)


def left(path, was):
    """What became of a file."""
    if path.is_dir():
        return "folder"
    return "missing" if not path.exists() else "same" if path.read_bytes() == was else path.read_bytes()[:64].hex()


if __name__ == "__main__":
    base, out, *versions = sys.argv[1:]
    rows, settings = [], json.loads(Path(base, "truth/store_state.json").read_text())["settings"]
    breaks = [(name, main, bak) for name in GOOD for main, bak in PAIRS] + [(CHECK, main, "missing") for main in OF_CHECK]
    for version in versions:
        work = LAB / "broken" / version
        shutil.rmtree(work, ignore_errors=True)
        (work / "cls").mkdir(parents=True)
        subprocess.run(["javac", "-nowarn", "-cp", f"{LAB2}/lib/{version}/*", "-d", work / "cls", HERE / "Refused.java"], check=True)
        stores, files = [], []
        for name, main, bak in breaks:
            store = work / f"store{len(stores)}"
            shutil.copytree(f"{base}/store", store)
            config = store / "config"
            for each, content in GOOD.items():
                (config / each).write_bytes(content)
                (config / f"{each}.bak").write_bytes(content)
            good = (config / name).read_bytes()
            put(config / name, (OF_CHECK if name == CHECK else BROKEN)[main], good)
            if name != CHECK:
                put(config / f"{name}.bak", BROKEN[bak], good)
            stores.append(store)
            files.append([config / each for each in ((name,) if name == CHECK else (name, f"{name}.bak"))])
        before = [[path.read_bytes() if path.is_file() else None for path in paths] for paths in files]
        for broken, told, paths, was in zip(breaks, starts(version, stores, settings, True), files, before, strict=True):
            row = {"version": version, **dict(zip(("file", "main", "bak"), broken)), "initialize": told["INITIALIZE"]}
            row |= {"memory": json.loads(told["MEMORY"]), "left": [left(*each) for each in zip(paths, was)]}
            rows.append(row)
            print(row, flush=True)
    Path(out).write_text("".join(json.dumps(row) + "\n" for row in rows))
