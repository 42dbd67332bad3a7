"""Rebuild of queues and index from logs of several sizes, against the scalar dispatch and, if asked, the real store.

Run: python benchmarks/bench_rebuild.py [folder] [--large] [--java]
The scalar rules rebuild the smallest log, in memory: the bytes must agree. Rates are the best of some runs after one
that compiles, by the clock and by the processor, and as a share of the rate at 2.1 M records: 1.00 is linear. There it
is told, too, what the other cores are good for, beside a plain loop over the log's bytes (`ceiling.py`), and from there
on what memory a process takes that does nothing but rebuild. `--large` adds logs of 4 and 8 GiB: the folder should be
one in memory, and the log stay in the page cache, or the disk is what is measured. `--java` runs the real
DefaultMessageStore on the log of 2.1 M records, too (needs a JDK and Maven).
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

from benchmarks.ceiling import ceiling, on_one_core
from parsers.index.geometry import DEFAULT_GEOMETRY
from parsers.store.store import Store, open_store
from recovery.rebuild.index_writer import IndexWriter
from recovery.rebuild.queue_writer import QueueWriter
from recovery.rebuild.rebuild import rebuild
from recovery.rules.dispatch import DispatchRequest, DispatchRules, index_keys, queue_units
from recovery.rules.settings import StoreSettings
from recovery.rules.versions import BrokerVersion
from recovery.scan.log_access import LogAccess
from recovery.scan.log_runs import log_runs
from tests.support.big_log import BLOCK_RECORDS, write_log
from tests.support.java_lab import MAKE
from tests.support.opened import opened
from tests.support.peak_memory import grown_mib

VERSION, SETTINGS = BrokerVersion(5, 3, 3), StoreSettings()
RECORDS, LARGE = (BLOCK_RECORDS, 500_000, 2_100_000), (7_000_000, 14_000_000)
USUAL, RUNS = RECORDS[-1], 5
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
                    writers[key] = QueueWriter(SETTINGS.consume_queue_file_size, partial(_take, data))
                writers[key].put(unit)
            index.put(request, index_keys(request, rules))
            records += 1
    return written, index, records


def _take(data: bytearray, _: int, unit: bytes) -> None:
    data.extend(unit)


def assert_same(new: Path, queues: Queues, index: IndexWriter) -> None:
    for (topic, queue_id), data in queues.items():
        (path,) = (new / "consumequeue" / topic / str(queue_id)).iterdir()
        assert path.read_bytes()[: len(data)] == data
    (path,) = (new / "index").iterdir()
    assert path.read_bytes() == index.files[0].with_counts()


def rebuild_rates(root: Path, to: Path) -> tuple[int, float, float]:
    """How many records there are, and how many are dispatched in a second by the clock and by the processor."""
    told: list[tuple[float, float]] = []
    for _ in range(1 + RUNS):
        shutil.rmtree(to, ignore_errors=True)
        start, cpu = perf_counter(), process_time()
        report = rebuild(*opened(root, VERSION, SETTINGS), to)
        told.append((perf_counter() - start, process_time() - cpu))
        assert report.records == report.units
        assert not report.gaps
        assert report.keys > report.records
    wall, cpu = (min(seconds) for seconds in zip(*told[1:], strict=True))
    return report.records, report.records / wall, report.records / cpu


def rebuild_alone(root: Path, to: Path) -> None:
    rebuild(*opened(root, VERSION, SETTINGS), to)


def java_rebuild_rate(root: Path) -> float:
    """Records a second that the real store dispatches while loading a log without queues and index: one pass."""
    run = ["bash", str(MAKE / "bench" / "run.sh"), str(VERSION), "RebuildBench", str(root), "1"]
    told = subprocess.run(run, check=True, capture_output=True, text=True).stdout.splitlines()
    names, values = (line.split("\t") for line in told if "\t" in line)
    return float(dict(zip(names, values, strict=True))["msg/s_while_dispatching"])


def main(folder: Path, *, large: bool, with_java: bool) -> None:
    rates: dict[int, tuple[float, float]] = {}
    for wanted in (*RECORDS, *(LARGE if large else ())):
        root, new = folder / f"log-{wanted}", folder / f"new-{wanted}"
        write_log(root, wanted)
        records, by_clock, by_processor = rebuild_rates(root, new)
        rates[wanted] = by_clock, by_processor
        if wanted == USUAL:
            with on_one_core():
                _, alone, _ = rebuild_rates(root, new)
            most = ceiling([file.path for file in open_store(root).commitlog])
            print(f"all cores rebuild {by_clock / alone:.2f} x as fast as one, by the clock; a plain loop {most:.2f} x")
        if wanted >= USUAL:
            print(f"memory beyond imports, {records} records: {grown_mib(rebuild_alone, root, folder / 'alone')} MiB")
            shutil.rmtree(folder / "alone")
        if wanted > USUAL:
            shutil.rmtree(root)
            shutil.rmtree(new)
        rate = f"{by_clock:>12,.0f} records/s, {by_processor:>12,.0f} by the processor"
        print(f"compiled  {records:>9} records {rate}")
    for wanted, told in rates.items():
        shares = [f"{rate / usual:.2f}" for rate, usual in zip(told, rates[USUAL], strict=True)]
        print(f"rate at {wanted} / rate at {USUAL}: {shares[0]} by the clock, {shares[1]} by the processor")
    fastest = rates[USUAL][0]
    start = perf_counter()
    queues, index, records = scalar_rebuild(open_store(folder / f"log-{RECORDS[0]}"))
    scalar = records / (perf_counter() - start)
    assert_same(folder / f"new-{RECORDS[0]}", queues, index)
    print(f"scalar    {records:>9} records {scalar:>12,.0f} records/s; compiled is {fastest / scalar:.0f} x")
    if with_java:
        java = java_rebuild_rate(folder / f"log-{USUAL}")
        print(f"real store, {USUAL} records: {java:,.0f} records/s; compiled is {fastest / java:.1f} x")


if __name__ == "__main__":
    flags = {"--java", "--large"}
    given = [argument for argument in sys.argv[1:] if argument not in flags]
    with TemporaryDirectory(dir=given[0] if given else None) as scratch:
        main(Path(scratch), large="--large" in sys.argv, with_java="--java" in sys.argv)
