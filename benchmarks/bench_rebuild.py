"""Rebuild of queues and index from logs of three sizes, against the scalar dispatch and, where it runs, the real store.

Run: python benchmarks/bench_rebuild.py [folder] [--java]
The scalar rules rebuild the smallest log, in memory: the bytes must agree. Rates are of a second run, when everything
is compiled. `--java` runs the real DefaultMessageStore on the largest log, too
(needs a JDK and Maven).
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from tempfile import TemporaryDirectory
from time import perf_counter

from parsers.index.geometry import DEFAULT_GEOMETRY
from parsers.store import Store, open_store
from recovery.dispatch import DispatchRequest, DispatchRules, index_keys, queue_units
from recovery.index_writer import IndexWriter
from recovery.log_access import LogAccess
from recovery.log_runs import log_runs
from recovery.queue_writer import QueueWriter
from recovery.rebuild import rebuild
from recovery.settings import StoreSettings
from recovery.versions import BrokerVersion
from tests.support.big_log import BLOCK_RECORDS, write_log
from tests.support.java_lab import MAKE

VERSION, SETTINGS = BrokerVersion(5, 3, 3), StoreSettings()
RECORDS = (BLOCK_RECORDS, 500_000, 2_100_000)
Queues = dict[tuple[str, int], bytearray]


def scalar_rebuild(store: Store) -> tuple[Queues, IndexWriter, int]:
    """Queues and index in memory, record by record."""
    rules, log, records = DispatchRules.of(VERSION, SETTINGS), LogAccess(store.commitlog), 0
    index, written, writers = IndexWriter(DEFAULT_GEOMETRY), Queues(), dict[tuple[str, int], QueueWriter]()
    for run in log_runs(store.commitlog, lambda gap: None):
        for at in run.positions.tolist():
            message = log.message(run.base_offset + at)
            assert message is not None
            request = DispatchRequest.of(message, rules)
            for unit in queue_units(request, rules):
                key = unit.topic, unit.queue_id
                if key not in writers:
                    data = written.setdefault(key, bytearray())
                    writers[key] = QueueWriter(
                        SETTINGS.consume_queue_file_size, lambda _, unit, data=data: data.extend(unit)
                    )
                writers[key].put(unit)
            index.put(request, index_keys(request, rules))
            records += 1
    return written, index, records


def assert_same(new: Path, queues: Queues, index: IndexWriter) -> None:
    for (topic, queue_id), data in queues.items():
        (path,) = (new / "consumequeue" / topic / str(queue_id)).iterdir()
        assert path.read_bytes()[: len(data)] == data
    (path,) = (new / "index").iterdir()
    assert path.read_bytes() == index.files[0].with_counts()


def timed_rebuild(root: Path, to: Path) -> tuple[int, float]:
    for _ in range(2):
        shutil.rmtree(to, ignore_errors=True)
        start = perf_counter()
        report = rebuild(root, to, version=VERSION, settings=SETTINGS)
        seconds = perf_counter() - start
        assert report.records == report.units
        assert not report.gaps
        assert report.keys > report.records
    return report.records, seconds


def java_rebuild_rate(root: Path) -> float:
    """Records a second that the real store dispatches while loading a log without queues and index: one pass."""
    run = ["bash", str(MAKE / "bench" / "run.sh"), str(VERSION), "RebuildBench", str(root), "1"]
    told = subprocess.run(run, check=True, capture_output=True, text=True).stdout.splitlines()
    names, values = (line.split("\t") for line in told if "\t" in line)
    return float(dict(zip(names, values, strict=True))["msg/s_while_dispatching"])


def main(folder: Path, with_java: bool) -> None:
    rates: dict[int, float] = {}
    for wanted in RECORDS:
        root, new = folder / f"log-{wanted}", folder / f"new-{wanted}"
        write_log(root, wanted)
        records, seconds = timed_rebuild(root, new)
        rates[wanted] = records / seconds
        print(f"compiled  {records:>9} records {rates[wanted]:>12,.0f} records/s")
    print(f"peak memory {getrusage(RUSAGE_SELF).ru_maxrss // 1024} MiB")
    fastest = rates[RECORDS[-1]]
    start = perf_counter()
    queues, index, records = scalar_rebuild(open_store(folder / f"log-{RECORDS[0]}"))
    scalar = records / (perf_counter() - start)
    assert_same(folder / f"new-{RECORDS[0]}", queues, index)
    print(f"scalar    {records:>9} records {scalar:>12,.0f} records/s; compiled is {fastest / scalar:.0f} x")
    if with_java:
        java = java_rebuild_rate(folder / f"log-{RECORDS[-1]}")
        print(f"real store, {RECORDS[-1]} records: {java:,.0f} records/s; compiled is {fastest / java:.1f} x")


if __name__ == "__main__":
    given = [argument for argument in sys.argv[1:] if argument != "--java"]
    with TemporaryDirectory(dir=given[0] if given else None) as scratch:
        main(Path(scratch), "--java" in sys.argv)
