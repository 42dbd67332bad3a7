"""`python -m tests.lake_faults --kills 200 --seed 1`: strike ingests, then let one end, and compare every table.

Each case begins with an empty lake, or with one that holds the stores as they were earlier; is struck; must pass
`check-lake`; and after an undisturbed ingest and a vacuum must hold what an undisturbed lake holds, row for row. A
stream that was killed, every twentieth case, must end with each message once in its table. A case is drawn from the
seed and its own number, so `--from 60` goes on where a run ended. A checkout that changes meanwhile is found as a
fault: each ingest imports what it needs by itself.

With `--spark` ingests run on Spark's own processes, and strikes fall on driver, Java and workers, most of them while
derived tables are made side by side. No process may stay.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.lake_faults.cases import CASES, Judge, kind_of
from tests.lake_faults.spark_cases import SPARK_CASES
from tests.lake_faults.world import World


def main(arguments: list[str]) -> int:
    """0 when every lake ended as it must, else 1."""
    asked = _parser().parse_args(arguments)
    done, began = Counter[str](), time.monotonic()
    kinds = SPARK_CASES if asked.spark else CASES
    folder = Path(tempfile.mkdtemp(prefix="lake-faults-"))
    try:
        judge = Judge(World.make(folder))
        judge.prepare()
        for number in range(asked.first, asked.kills):
            kind = list(kinds)[number % len(kinds)] if asked.spark else kind_of(number)
            judge.draw.seed(f"{asked.seed} {number}")
            wrong = kinds[kind](judge)
            done[kind] += 1
            for sentence in wrong:
                print(f"seed {asked.seed}, case {number} ({kind}): {sentence}", file=sys.stderr)
            if wrong:
                return 1
            if asked.spark or (number + 1) % 10 == 0:
                print(f"{number + 1} of {asked.kills} cases, {time.monotonic() - began:.0f} s", file=sys.stderr)
        told = ", ".join(f"{count} × {kind}" for kind, count in done.items())
        print(f"{done.total()} cases in {time.monotonic() - began:.0f} s, every table as undisturbed: {told}")
        print(", ".join(f"{count} × {how}" for how, count in sorted(judge.ended.items())))
        return 0
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.lake_faults", description=__doc__)
    parser.add_argument("--kills", type=int, default=24, help="the number after the last case (default: %(default)s)")
    parser.add_argument("--from", dest="first", type=int, default=0, help="number of the first case (default: 0)")
    parser.add_argument("--seed", type=int, default=1, help="of all that is drawn (default: %(default)s)")
    parser.add_argument("--spark", action="store_true", help="ingests on Spark, with processes of its own")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
