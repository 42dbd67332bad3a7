#!/usr/bin/env python3
"""batch.py VERSION SEED: a store with queues of type BatchCQ, damaged, and what the store classes of that version make of each copy.

Run in the checkout with its Python. Adds to tests/golden/recovery/batch: the base, and one file of cases for it.
"""

import json
import lzma
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from parsers.consumequeue.batch import BATCH_UNIT
from tests.oracle.judge import FreshCases
from tests.support.java_lab import recover_all, run_lab

TO = Path(__file__).parents[2] / "recovery" / "batch"
TOPIC, UNIT = "TopicA", BATCH_UNIT.size
SETTINGS = {
    "mappedFileSizeCommitLog": "65536",
    "mappedFileSizeConsumeQueue": "2000",
    "mapperFileSizeBatchConsumeQueue": str(7 * UNIT),
    "maxHashSlotNum": "64",
    "maxIndexNum": "300",
}
ABORT = {"op": "create", "path": "abort"}
FULL = [ABORT, {"op": "delete", "path": "checkpoint"}]


def damages(base, chance):
    """Name and edits, each with an orderly last exit, a crash, and a crash after which everything is dispatched."""
    files = sorted(path.relative_to(base).as_posix() for path in (base / "batchconsumequeue").rglob("0*") if path.is_file())
    logs = sorted(path.relative_to(base).as_posix() for path in (base / "commitlog").iterdir())
    queues = sorted({name.rpartition("/")[0] for name in files})
    for number in range(9):
        file = sorted(name for name in files if name.startswith(f"{chance.choice(queues)}/"))[-2]
        slot = chance.randrange(7)
        field, value = chance.choice([("message_count", "0000"), ("queue_offset", "ff" * 8), ("msg_size", "00" * 4), ("physical_offset", "00" * 6 + "0007")])
        kinds = {
            "unit_zeroed": [{"op": "zero", "path": file, "offset": slot * UNIT, "length": UNIT}],
            "field": [{"op": "write", "path": file, "offset": slot * UNIT + BATCH_UNIT.offsets[field], "hex": value}],
            "tail_zeroed": [{"op": "zero", "path": file, "offset": slot * UNIT, "length": (7 - slot) * UNIT}],
            "file_missing": [{"op": "delete", "path": file}],
            "queue_missing": [{"op": "delete", "path": chance.choice(queues)}],
            "file_cut": [{"op": "truncate", "path": file, "length": 3 * UNIT}],
            "log_cut": [{"op": "zero", "path": logs[-1], "offset": 9_000 + 2_000 * number, "length": 65_536 - 9_000 - 2_000 * number}],
            "log_head_missing": [{"op": "delete", "path": logs[0]}],
            "none": [],
        }
        name = sorted(kinds)[number]
        for exit_, more in (("clean", []), ("crash", [ABORT]), ("full", FULL)):
            yield f"batch.{name} {exit_}", kinds[name] + more


def main(version, seed, work):
    base = work / f"b{version.replace('.', '')}-clean-{seed}"
    if run_lab(version, "write", str(base), "clean", str(seed), "200", *(f"{k}={v}" for k, v in SETTINGS.items()), f"lab.batches={TOPIC}"):
        raise RuntimeError("no store was written")
    (base / "lock").unlink()
    chance, short = random.Random(seed), version.replace(".", "")
    fresh = {
        f"b{short}-{seed}-{n:03d}": {"id": f"b{short}-{seed}-{n:03d}", "version": version, "base": base.name, "damageClass": name.split()[0],
                                     "description": name, "configOverrides": SETTINGS, "edits": edits}
        for n, (name, edits) in enumerate(damages(base, chance))
    }
    cases = FreshCases(work, work, fresh)
    started = {work / "started" / name: name for name in cases.names()}
    for root, name in started.items():
        with cases.built(cases.case(name)) as built:
            fresh[name]["abortPresent"] = (built / "abort").exists()
            shutil.copytree(built, root)
    truths = recover_all({root: {**SETTINGS, "lab.batches": TOPIC} for root in started}, version)
    lines = []
    for root, name in started.items():
        truth = truths.get(root)
        if truth is None or truth.get("hang") or "driverError" in truth:
            print("left out", name, fresh[name]["description"], truth)
            continue
        fresh[name]["truth"] = json.loads(json.dumps(truth).replace(str(root), "<store>"))
        fresh[name]["config"] = fresh[name]["truth"].pop("config", None)
        lines.append(json.dumps(fresh[name], separators=(",", ":"), ensure_ascii=False) + "\n")
    for folder in ("bases", "cases"):
        (TO / folder).mkdir(parents=True, exist_ok=True)
    archive = TO / "bases" / f"{base.name}.tar.gz"
    subprocess.run(["tar", "czf", str(archive), "--sort=name", "--owner=0", "--group=0", "-C", str(base), "."], check=True)
    with lzma.open(TO / "cases" / f"{base.name}.jsonl.xz", "wt", encoding="utf-8", preset=9) as out:
        out.writelines(lines)
    print(base.name, len(lines))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        main(sys.argv[1], int(sys.argv[2]), Path(scratch))
