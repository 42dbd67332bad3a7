"""History of offsets and configuration: each state that a broker wrote to config/*.json is kept once.

A state is known by the file and the time it was written, so taking a snapshot twice of the same state adds nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Sequence, Set
from itertools import chain
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from parsers.config.document import BACKUP, holds_table
from parsers.layouts.columns import TIMESTAMP
from parsers.store.store import NotAStore
from parsers.store.store_file import StoreFile
from pipelines.lake.configuration.broker_stores import store_of
from pipelines.lake.configuration.sources import BrokerSource
from pipelines.lake.delta.commit import commit
from pipelines.lake.delta.gathered import gather
from pipelines.lake.delta.log import partition_parts
from pipelines.lake.delta.packed import rows_again
from pipelines.lake.delta.parts import Part, new_job, remove_job, write_parts
from pipelines.lake.lake import Lake
from pipelines.lake.tables.raw import SNAPSHOT_TABLES
from pipelines.lake.tables.raw_table import SnapshotTable
from pipelines.objects.place import Place
from pipelines.spark.transfer import slices_of, write_table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

KNOWN = """
SELECT DISTINCT file, epoch_us(written_at) AS written_us FROM {table}
WHERE broker = $broker AND list_contains($written_us, epoch_us(written_at))
"""


def snapshot_config(spark: SparkSession, lake: Lake, broker: BrokerSource, *, anew: bool = False) -> None:
    """Keep what the broker has written since the last snapshot.

    `anew`: the tables have got columns since: the states that the files still hold are read again.
    Raises NotAStore: one sentence.
    """
    files = store_of(broker, needs_log=False).config
    for table in SNAPSHOT_TABLES:
        known = known_states(lake, broker, table.name, files)
        if anew and known:
            _read_again(lake, broker, table, known)
        present = [file for file in files if not _is_backup(file) and _holds_one_of(file, table.main_files)]
        if not present or any((f"config/{f.path.name}", f.mtime_ns // 1000) not in known for f in present):
            work = slices_of(broker, table.name, options={"known": json.dumps(sorted(known))})
            write_table(spark, lake, table.name, work, replaced=[])
            gather(table, lake.table_root(table.name), broker.name)


def _read_again(lake: Lake, broker: BrokerSource, table: SnapshotTable, known: Set[tuple[str, int]]) -> None:
    """Put what files give now in the place of the rows that the lake has of these states, in one transaction.

    A state stays as it is where the file gives no rows any more, or is another state by the time it was read.
    """
    root, job = lake.table_root(table.name), new_job()
    read = {state: batch for work in slices_of(broker, table.name) for batch in work() if (state := _state_of(batch))}
    again = {state: batch for state, batch in read.items() if state in known and _is_still(broker, state)}
    names = {name for name, _ in again}
    parts = [part for part in partition_parts(table, root, [broker.name]) if part.partition[1] in names]
    kept = (batch for part in parts for batch in _without(table, root, part, again))
    try:
        written = write_parts(table, root, job, chain(kept, again.values()))
    except BaseException:
        remove_job(root, job)
        raise
    commit(table, root, written, [(broker.name, name) for name in names])


def _state_of(batch: pa.RecordBatch) -> tuple[str, int] | None:
    """The state that all rows of a batch are of."""
    if not batch.num_rows:
        return None
    return batch.column("file")[0].as_py(), batch.column("written_at")[0].value


def _is_still(broker: BrokerSource, state: tuple[str, int]) -> bool:
    try:
        return (broker.store / state[0]).stat().st_mtime_ns // 1000 == state[1]
    except OSError:
        return False


def _without(
    table: SnapshotTable, root: Place, part: Part, states: Collection[tuple[str, int]]
) -> Iterator[pa.RecordBatch]:
    """The rows of a part that are of none of these states."""
    gone = pa.array([written_us for name, written_us in states if name == part.partition[1]], TIMESTAMP)
    for batch in rows_again(table, root, [(part, frozenset())]):
        yield batch.filter(pc.invert(pc.is_in(batch.column("written_at"), gone)))


def known_states(lake: Lake, broker: BrokerSource, table: str, files: Sequence[StoreFile]) -> set[tuple[str, int]]:
    """(file, time written in epoch microseconds) of the snapshots in the lake that any of these files may be. It goes
    to the workers: with every snapshot of a year it would not fit."""
    asked = sorted({file.mtime_ns // 1000 for file in files})
    rows = lake.query_broker(KNOWN.format(table=table), broker.name, written_us=asked).to_pylist()
    return {(row["file"], row["written_us"]) for row in rows}


def config_state(broker: BrokerSource) -> str | None:
    """A short text that differs whenever the broker has written one of the files; None when there is none to read."""
    try:
        files = store_of(broker, needs_log=False).config
    except NotAStore:
        return None
    names = {name for table in SNAPSHOT_TABLES for name in table.main_files}
    times = sorted((file.path.name, file.mtime_ns, file.size) for file in files if _holds_one_of(file, names))
    return hashlib.sha256(json.dumps(times).encode()).hexdigest()[:16] if times else None


def _holds_one_of(file: StoreFile, names: Collection[str]) -> bool:
    return any(holds_table(file, name) for name in names)


def _is_backup(file: StoreFile) -> bool:
    return file.path.name.endswith(BACKUP)
