"""Verification of a whole store against decoding it: what proving three file sets against each other costs.

Run: python benchmarks/bench_verify.py [folder] [records]
Decoding is what the readers do in one thread: all columns of the log with every CRC, all units of all queues, all
entries of the index; the log's part of it is told, too. The store is rebuilt from a generated log, so there is nothing
to find; one zeroed unit then has to be found. Seconds are the least of some runs after one that compiles; memory is
what a process that does nothing but verify takes beyond its imports. Verification on one core has the same findings,
and its time by the clock tells what the other cores are good for; beside it stands what they are good for in a plain
loop over the log's bytes in the same run (`ceiling.py`).
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

from benchmarks.ceiling import ceiling, on_one_core
from parsers.commitlog.batches.segment import read_segment
from parsers.consumequeue.layout import CQ_UNIT
from parsers.consumequeue.read import read_queue
from parsers.index.read import read_index
from parsers.store.store import Store, open_store
from recovery.knowledge.knowledge import Said, knowledge_of
from recovery.rebuild.rebuild import rebuild
from recovery.rules.settings import StoreSettings
from recovery.rules.versions import BrokerVersion
from recovery.verify.verify import verify
from tests.support.big_log import write_log
from tests.support.opened import opened
from tests.support.peak_memory import grown_mib

VERSION, SETTINGS, RECORDS, RUNS = BrokerVersion(5, 3, 3), StoreSettings(), 2_100_000, 5
Seconds = tuple[float, float]


def log_decoded(store: Store) -> int:
    """All columns of all messages, CRCs checked: how many there are."""
    return sum(batch.num_rows for file in store.commitlog for batch in read_segment(file))


def decoded(store: Store) -> int:
    """The log, the queues and the index."""
    records = log_decoded(store)
    assert sum(batch.num_rows for files in store.queues.values() for batch in read_queue(files)) == records
    assert sum(batch.num_rows for batch in read_index(store.index)) > records
    return records


def verified(store: Store) -> list[str]:
    """Kinds of finding; the generated store has no checkpoint."""
    kinds = [finding.kind for finding in verify(store, knowledge_of(store, Said(VERSION, SETTINGS))).findings]
    return [kind for kind in kinds if kind != "checkpoint_missing"]


def verified_on_one_core(store: Store) -> list[str]:
    """Kinds of finding, by a verification that may use one core only."""
    with on_one_core():
        return verified(store)


def seconds_of(work: Callable[[Store], object], store: Store, expected: object) -> Seconds:
    """Least time by the clock and by the processor, of runs that give what is expected."""
    told: list[Seconds] = []
    for _ in range(1 + RUNS):
        start, cpu = perf_counter(), process_time()
        assert work(store) == expected
        told.append((perf_counter() - start, process_time() - cpu))
    return min(wall for wall, _ in told[1:]), min(cpu for _, cpu in told[1:])


def verify_alone(root: Path) -> None:
    assert verified(open_store(root)) == []


def main(folder: Path, wanted: int) -> None:
    root = folder / "store"
    records = write_log(root, wanted)
    rebuild(*opened(root, VERSION, SETTINGS), folder / "new")
    for made in (folder / "new").iterdir():
        os.replace(made, root / made.name)
    store = open_store(root)
    work: dict[str, tuple[Callable[[Store], object], object]] = {
        "decode the log": (log_decoded, records),
        "decode all": (decoded, records),
        "verify": (verified, []),
        "on one core": (verified_on_one_core, []),
    }
    seconds = {name: seconds_of(act, store, expected) for name, (act, expected) in work.items()}
    for name, (wall, cpu) in seconds.items():
        ratios = [took / base for took, base in zip(seconds["verify"], (wall, cpu), strict=True)]
        print(
            f"{name:15} {records} records  {wall:6.2f} s  {cpu:6.2f} s of processor time;"
            f"  verify is {ratios[0]:.2f} x by the clock, {ratios[1]:.2f} x by the processor"
        )
    cores = seconds["on one core"][0] / seconds["verify"][0]
    most, every = ceiling([file.path for file in store.commitlog]), len(os.sched_getaffinity(0))
    print(f"{every} cores verify {cores:.2f} x as fast as one, by the clock; a plain loop {most:.2f} x")
    print(f"peak memory of verify, beyond imports: {grown_mib(verify_alone, root)} MiB")
    path = next(iter(store.queues.values()))[0].path
    with path.open("r+b") as file:
        file.seek(CQ_UNIT.size * 7)
        file.write(bytes(CQ_UNIT.size))
    assert verified(open_store(root)) == ["unit_invalid"]
    shutil.rmtree(root)


if __name__ == "__main__":
    with TemporaryDirectory(dir=sys.argv[1] if len(sys.argv) > 1 else None) as scratch:
        main(Path(scratch), int(sys.argv[2]) if len(sys.argv) > 2 else RECORDS)
