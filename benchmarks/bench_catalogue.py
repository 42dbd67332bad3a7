"""A catalogue of many brokers without log bytes: what an ingest and the sensor do before any byte of a log is read.

Run: python -m benchmarks.bench_catalogue [brokers] [files of each]     (half, then all of 500 brokers, 20 files each)
Each store is sparse log files of 1 GiB; the lake says that it has their rows, a part for each, all links to one small
Parquet file. Processor seconds of this process; the ratio of all to half is 2 where the work is linear. A tick is what
`store_files_sensor` asks of files and lake when nothing has changed; one broker noted and one log file committed are
what an ingest adds to the tables `ingested_files` and `commitlog_messages`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

import pyarrow as pa

from parsers.store.file_state import state_of
from parsers.store.places import name_below
from parsers.store.store import open_store
from pipelines.ingest.changes import changes_of
from pipelines.ingest.ingested import Ingested, IngestedFiles, ingested_row
from pipelines.ingest.made_from import MadeFrom
from pipelines.lake.catalog import publish
from pipelines.lake.configuration.broker_stores import store_of
from pipelines.lake.configuration.sources import BrokerSource
from pipelines.lake.delta.commit import commit, version_to_add_to
from pipelines.lake.delta.parts import Part, write_parts
from pipelines.lake.lake import Lake
from pipelines.lake.tables.ingest_notes import INGESTED_FILES
from pipelines.lake.tables.raw import FILE_TABLES
from pipelines.lake.tables.raw_messages import COMMITLOG_MESSAGES
from pipelines.spark.transfer import slices_of

BROKERS, FILES, GIB = 500, 20, 1 << 30


def make(folder: Path, brokers: int, files: int) -> tuple[Lake, list[BrokerSource]]:
    """The stores, and a lake that says it has the rows of all their files."""
    found = []
    for number in range(brokers):
        log = folder / f"broker-{number}" / "commitlog"
        log.mkdir(parents=True)
        for index in range(files):
            with (log / f"{index * GIB:020d}").open("wb") as file:
                file.truncate(GIB)
        found.append(BrokerSource(f"broker-{number}", log.parent))
    lake = Lake(folder / "lake")
    for table in FILE_TABLES:
        lake.write(table.name, table.bare_schema.empty_table())
    rows = [row for broker in found for row in ingested_rows(broker)]
    lake.write(INGESTED_FILES.name, pa.Table.from_pylist(rows, schema=INGESTED_FILES.bare_schema))
    link_parts(lake, [(broker.name, f"commitlog/{index * GIB:020d}") for broker in found for index in range(files)])
    return lake, found


def ingested_rows(broker: BrokerSource) -> Iterator[dict[str, object]]:
    """The rows of `ingested_files` after an ingest of this broker."""
    store, now = open_store(broker.store), datetime.now(UTC)
    for file in store.files():
        tables = frozenset(table.name for table in FILE_TABLES if file in table.files.of(store))
        state = state_of(file)
        assert state is not None
        name = name_below(store.root, file.path)
        yield ingested_row(broker.name, name, Ingested(state, now, tables, tables))


def link_parts(lake: Lake, partitions: list[tuple[str, str]]) -> None:
    """A part of no rows for each partition."""
    root = lake.table_root(COMMITLOG_MESSAGES.name)
    assert isinstance(root, Path)
    schema = COMMITLOG_MESSAGES.bare_schema
    row = dict(zip(("broker", "file"), partitions[0], strict=True))
    first = write_parts(COMMITLOG_MESSAGES, root, "job", [pa.RecordBatch.from_pylist([row], schema=schema)])[0]
    parts = []
    for number, partition in enumerate(partitions):
        path = f"part-{number}.parquet"
        os.link(root / first.path, root / path)
        parts.append(Part(path, first.size, 1, partition, first.written_ms))
    commit(COMMITLOG_MESSAGES, root, parts, None)


def tick(lake: Lake, brokers: list[BrokerSource]) -> None:
    """What the sensor asks when nothing has changed."""
    known, made = IngestedFiles.load_all(lake, [one.name for one in brokers]), MadeFrom.load(lake)
    for broker in brokers:
        changes = changes_of(broker, store_of(broker), known[broker.name], made)
        assert not any(changes.files.values()), changes.files


def plan(brokers: list[BrokerSource]) -> None:
    """The slices of every log, as a first ingest cuts them."""
    for broker in brokers:
        assert slices_of(broker, COMMITLOG_MESSAGES.name)


def change(lake: Lake, broker: BrokerSource) -> None:
    """What an ingest notes of one broker when one of its tables was read."""
    known = IngestedFiles.load(lake, broker.name)
    known.note(COMMITLOG_MESSAGES.name, list(known.known))
    known.save()


def committed(lake: Lake, broker: BrokerSource) -> None:
    """What an ingest commits when one log file of one broker was read."""
    root, row = lake.table_root(COMMITLOG_MESSAGES.name), {"broker": broker.name, "file": f"commitlog/{0:020d}"}
    version = version_to_add_to(COMMITLOG_MESSAGES, root)
    rows = pa.RecordBatch.from_pylist([row], schema=COMMITLOG_MESSAGES.bare_schema)
    parts = write_parts(COMMITLOG_MESSAGES, root, "change", [rows])
    commit(COMMITLOG_MESSAGES, root, parts, [(row["broker"], row["file"])], at_version=version)


def seconds(work: Callable[[], object]) -> float:
    start = process_time()
    work()
    return process_time() - start


def measured(folder: Path, brokers: int, files: int) -> dict[str, float]:
    """Processor seconds of each step."""
    lake, found = make(folder, brokers, files)
    return {
        "tick, nothing changed": seconds(lambda: tick(lake, found)),
        "plan of a first ingest": seconds(lambda: plan(found)),
        "publish": seconds(lambda: publish(lake)),
        "publish, nothing changed": seconds(lambda: publish(lake)),
        "one broker noted": seconds(lambda: change(lake, found[0])),
        "one log file committed": seconds(lambda: committed(lake, found[0])),
    }


def main(folder: Path, brokers: int, files: int) -> None:
    measured(folder / "warm", 2, 2)
    half, whole = (measured(folder / str(count), count, files) for count in (brokers // 2, brokers))
    print(f"{brokers} brokers with {files} log files each; in brackets against half as many")
    for name, took in whole.items():
        per_file = took / (brokers * files) * 1e6
        print(f"{name:25} {took:7.2f} s of processor time, {per_file:6.1f} us a file  ({took / half[name]:.2f} x)")


if __name__ == "__main__":
    with TemporaryDirectory() as scratch:
        given = [int(argument) for argument in sys.argv[1:3]]
        main(Path(scratch), *given, *(BROKERS, FILES)[len(given) :])
