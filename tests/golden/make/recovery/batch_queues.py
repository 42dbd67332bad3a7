"""What BatchConsumeQueue makes of damaged queues: `python -m tests.golden.make.recovery.batch_queues VERSION SEED COUNT`.

A line has the version, where the log begins, the queue's files (name -> bytes, as hex) and what the class said of them.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from pathlib import Path

from tests.oracle.batch_queues import draw_batch_damages, judge_batch_damages, write_batch_base
from tests.oracle.judge import FreshCases


def main(version: str, seed: int, count: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        base = write_batch_base(version, seed, Path(folder))
        (log,) = (path.name for path in (base.root / "commitlog").iterdir())
        for judged in judge_batch_damages(base, draw_batch_damages(base, count, random.Random(seed))):
            with FreshCases(base.root.parent, base.root.parent).built(judged.case) as root:
                for queue, told in judged.case["queuesFound"].items():
                    place = Path("batchconsumequeue") / queue
                    if any(edit["path"].startswith(f"{place}/") for edit in judged.case["edits"]):
                        files = {path.name: path.read_bytes().hex() for path in sorted((root / place).iterdir())}
                        print(json.dumps({"version": version, "log": log, "files": files, "told": told}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
