"""Processor time of ingests: many small files for the first time, and stores of which none, or one in a hundred, has
changed.

Run: python -m benchmarks.bench_ingest [queues] [brokers]     (16000 queues with 200 index files; 10 brokers, 200 files)
Spark's tasks are called one after another in this process, without Java, so that a second is one of our own work. The
ratios are to reading every byte of the same files once, and to looking at every file (`stat`, two pages), in the same
run. What the lake holds afterwards is counted, and an ingest that has nothing to do must write nothing.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

import numpy as np

from parsers.consumequeue.layout import CQ_UNIT
from pipelines.demo import BUNDLE
from pipelines.ingest.ingest import ingest
from pipelines.lake.configuration.sources import BrokerSource, Sources
from pipelines.lake.lake import Lake
from pipelines.lake.tables.raw import TABLES
from tests.support.fixtures import unpack_store
from tests.support.plain_spark import plain_spark

QUEUES, INDEX_FILES = 16_000, 200
BROKERS, FILES_OF_A_BROKER = 10, 200
UNITS, FILE_UNITS, QUEUES_OF_A_TOPIC = 20, 300, 16
MOST_PARTS = 500
PAGE = 4096


def write_store(root: Path, demo: Path, queues: int, index_files: int) -> None:
    """A store of one log file, and as many small queue files and index files as are wanted."""
    for name in ("commitlog", "index"):
        (root / name).mkdir(parents=True)
    log = min((demo / "commitlog").iterdir())
    shutil.copy(log, root / "commitlog" / log.name)
    for number in range(index_files):
        shutil.copy(min((demo / "index").iterdir()), root / "index" / f"{20_260_101_000_000_000 + number:017d}")
    units = np.zeros(FILE_UNITS, CQ_UNIT.dtype)
    units["msg_size"][:UNITS] = 100
    for number in range(queues):
        units["physical_offset"][:UNITS] = (np.arange(UNITS) * queues + number) * 100
        topic, queue_id = divmod(number, QUEUES_OF_A_TOPIC)
        folder = root / "consumequeue" / f"Topic{topic}" / str(queue_id)
        folder.mkdir(parents=True)
        (folder / f"{0:020d}").write_bytes(units.tobytes())


def files_below(root: Path) -> Iterator[Path]:
    return (path for path in root.rglob("*") if path.is_file())


def read_all(root: Path) -> None:
    for path in files_below(root):
        path.read_bytes()


def look_at_all(roots: Iterable[Path]) -> None:
    for path in (path for root in roots for path in files_below(root)):
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            os.pread(file.fileno(), PAGE, 0)
            os.pread(file.fileno(), PAGE, max(0, size - PAGE))


def measured(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds of processor and clock."""
    start, cpu = perf_counter(), process_time()
    work()
    return process_time() - cpu, perf_counter() - start


def many_queues(folder: Path, demo: Path, queues: int) -> None:
    store, lake = folder / "store", Lake(folder / "lake")
    write_store(store, demo, queues, INDEX_FILES)
    sources = Sources(lake.root, (BrokerSource("b", store, version="5.3.3"),))
    read, _ = measured(lambda: read_all(store))
    first, clock = measured(lambda: ingest(plain_spark(), sources))
    assert lake.rows("consumequeue_units") == queues * UNITS
    assert lake.rows("index_files") == INDEX_FILES
    parts = sum(len(lake.files(name)) for name in TABLES)
    assert parts <= MOST_PARTS, parts
    print(f"first ingest, {queues} queues and {INDEX_FILES} index files: {first:.1f} s of processor, {clock:.1f} s by")
    print(f"  the clock, {parts} parts; {first / read:.0f} x reading the bytes once")
    counts = [measured(partial(lake.query, f"SELECT count(*) FROM {name}"))[0] for name in TABLES]
    print(f"count(*) of a table: {max(counts):.3f} s at most")


def unchanged(folder: Path, demo: Path, brokers: int) -> None:
    lake, first_store = Lake(folder / "lake"), folder / "store-0"
    write_store(first_store, demo, FILES_OF_A_BROKER - 2, 1)
    for number in range(1, brokers):
        shutil.copytree(first_store, folder / f"store-{number}")
    named = (BrokerSource(f"b{number}", folder / f"store-{number}", version="5.3.3") for number in range(brokers))
    sources = Sources(lake.root, tuple(named))
    first, _ = measured(lambda: ingest(plain_spark(), sources))
    before = {name: lake.version(name) for name in TABLES}
    looked, _ = measured(lambda: look_at_all(broker.store for broker in sources.brokers))
    again, _ = measured(lambda: ingest(plain_spark(), sources))
    assert {name: lake.version(name) for name in TABLES} == before
    assert lake.rows("store_files") == brokers * FILES_OF_A_BROKER
    print(f"{brokers} brokers of {FILES_OF_A_BROKER} files: {first:.1f} s of processor, unchanged {again:.2f} s")
    print(f"  unchanged is {again / looked:.1f} x looking at every file, {again / first:.3f} of a first ingest")
    grown, (_, more, *_) = sources.brokers[: max(1, brokers // 100)], sorted((demo / "commitlog").iterdir())
    for broker in grown:
        shutil.copy(more, broker.store / "commitlog" / more.name)
    some, _ = measured(lambda: ingest(plain_spark(), sources))
    assert lake.rows("store_files") == brokers * FILES_OF_A_BROKER + len(grown)
    print(f"  {len(grown)} of them with another log file: {some:.2f} s, {some / first:.3f} of a first ingest")


def main(folder: Path, queues: int, brokers: int) -> None:
    demo = unpack_store(BUNDLE, folder / "demo")
    many_queues(folder / "queues", demo, queues)
    unchanged(folder / "brokers", demo, brokers)


if __name__ == "__main__":
    asked = [int(argument) for argument in sys.argv[1:]]
    with TemporaryDirectory() as scratch:
        main(Path(scratch), *[*asked, *(QUEUES, BROKERS)[len(asked) :]])
