#!/usr/bin/env python3
"""ext.py VERSION SEED COUNT: a store with ext queues, damaged, and what the store classes of that version make of each copy.

Run in the checkout with its Python. Odd seeds are halted. Adds to tests/golden/recovery/ext: the base, and one file of cases for it.
"""

import json
import lzma
import random
import shutil
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from tests.oracle.base import Plan, write_base
from tests.oracle.damage import draw
from tests.oracle.judge import FreshCases, _shares_an_index_file, case_of
from tests.support.java_lab import recover_all

TO = Path(__file__).parents[2] / "recovery" / "ext"
EXT = {"enableConsumeQueueExt": "true", "mappedFileSizeConsumeQueueExt": "500"}
LEFT_OUT = {"e498-901-011": "a delayed message was delivered between the snapshot and its end"}
ONLY = ("ext.", "ext.", "cq.", "config.ext", "ext.", "combo")


def main(version, seed, count, work):
    plan = Plan.of(version, seed, "halt" if seed % 2 else "clean")
    settings = {name: value for name, value in plan.settings.items() if name != "storePathCommitLog"} | EXT
    base = write_base(replace(plan, settings=settings, messages=250, millis=1500, former=()), work)
    chance, short = random.Random(f"{version} {seed}"), version.replace(".", "")
    drawn = {f"e{short}-{seed}-{n:03d}": draw(base, chance, ONLY[n % len(ONLY)]) for n in range(count)}
    cases = FreshCases(work, work, {name: case_of(base, name, damage) for name, damage in drawn.items()})
    started = {work / "started" / name: name for name in cases.names()}
    for root, name in started.items():
        with cases.built(cases.case(name)) as built:
            cases.case(name)["abortPresent"] = (built / "abort").exists()
            shutil.copytree(built, root)
    truths = recover_all({root: dict(cases.case(name)["configOverrides"]) for root, name in started.items()}, version)
    lines = []
    for root, name in started.items():
        truth = truths.get(root)
        if truth is None or truth.get("hang") or "driverError" in truth or _shares_an_index_file(truth) or name in LEFT_OUT:
            print("left out", name)
            continue
        case = cases.case(name)
        case["truth"] = json.loads(json.dumps(truth).replace(str(root), "<store>"))
        case["config"] = case["truth"].pop("config", None)
        lines.append(json.dumps(case, separators=(",", ":"), ensure_ascii=False) + "\n")
    pack(base.root, lines)


def pack(root, lines):
    archive = TO / "bases" / f"{root.name}.tar.gz"
    subprocess.run(["tar", "czf", str(archive), "--sort=name", "--owner=0", "--group=0", "-C", str(root), "."], check=True)
    with lzma.open(TO / "cases" / f"{root.name}.jsonl.xz", "wt", encoding="utf-8", preset=9) as out:
        out.writelines(lines)
    print(root.name, len(lines))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as work:
        main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(work))
