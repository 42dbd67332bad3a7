"""Two replicas of a log compared against reading the same bytes once: what finding the common prefix costs.

Run: python benchmarks/bench_compare.py [folder] [records]
The baseline is numpy comparing both files window by window, which finds nothing but a difference. Processor seconds are
the least of three runs after one that compiles; memory is that of the process, which reads every byte of both logs.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from tempfile import TemporaryDirectory
from time import process_time

import numpy as np

from parsers.evidence.mapped import map_file, release_pages
from parsers.store.store import Store, open_store
from recovery.compare.logs.history import Relation, history_of
from recovery.rules.dispatch import DispatchRules
from recovery.rules.settings import StoreSettings
from recovery.rules.versions import BrokerVersion
from tests.support.big_log import write_log

RULES = DispatchRules.of(BrokerVersion(5, 3, 3), StoreSettings())
RECORDS, RUNS, WINDOW, RELEASED = 2_100_000, 3, 1 << 20, 32 << 20


def by_numpy(left: Store, right: Store) -> None:
    """Every byte of both logs compared once."""
    for one, other in zip(left.commitlog, right.commitlog, strict=True):
        data, others = (np.frombuffer(map_file(file.path), np.uint8) for file in (one, other))
        for at in range(0, len(data), WINDOW):
            assert np.array_equal(data[at : at + WINDOW], others[at : at + WINDOW])
            if (at + WINDOW) % RELEASED == 0:
                release_pages(data, at + WINDOW - RELEASED, at + WINDOW)
                release_pages(others, at + WINDOW - RELEASED, at + WINDOW)


def compared(left: Store, right: Store) -> None:
    """The histories of both logs."""
    assert history_of(left.commitlog, right.commitlog, (RULES, RULES)).relation is Relation.LEVEL


def least(run: Callable[[Store, Store], None], left: Store, right: Store) -> float:
    """Processor seconds of the quickest of some runs, after one that compiles."""
    run(left, right)
    found = []
    for _ in range(RUNS):
        begun = process_time()
        run(left, right)
        found.append(process_time() - begun)
    return min(found)


def main(folder: Path, records: int) -> None:
    left, right = folder / "left", folder / "right"
    write_log(left, records)
    shutil.copytree(left, right)
    stores = open_store(left), open_store(right)
    size = sum(file.size for file in stores[0].commitlog) / 2**30
    plain, ours = least(by_numpy, *stores), least(compared, *stores)
    memory = getrusage(RUSAGE_SELF).ru_maxrss / 1024
    print(f"{size:.2f} GiB in each of two logs")
    print(f"numpy, bytes alone        {plain:6.2f} s  {2 * size / plain:5.1f} GiB/s of both")
    print(f"compare, record by record {ours:6.2f} s  {2 * size / ours:5.1f} GiB/s of both, {ours / plain:.2f} x")
    print(f"resident at most {memory:.0f} MiB")


if __name__ == "__main__":
    with TemporaryDirectory() as scratch:
        arguments = sys.argv[1:]
        main(Path(arguments[0] if arguments else scratch), int(arguments[1]) if arguments[1:] else RECORDS)
