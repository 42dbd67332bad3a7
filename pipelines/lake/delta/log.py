"""The logs of Delta tables, read without a jar: their newest versions, and the parts that each is made of."""

from __future__ import annotations

import errno
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import PurePath
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable

from pipelines.lake.delta.errors import OtherPartitions
from pipelines.lake.delta.lease import newest_known
from pipelines.lake.delta.parts import Part
from pipelines.lake.tables.table import Table
from pipelines.objects.both import told_apart
from pipelines.objects.place import ObjectPlace, Place, StoreRefused, said_by_server

BROKER = "broker"
"""The first column that tables are partitioned by, if any."""
LOG_FOLDER = "_delta_log"
MOST_OPENED = 64
"""More tables than a lake has."""
VERSION_FILE = re.compile(r"\d+\.json")
Mark = tuple[str, str]
"""Name of a table's newest version, and a text that tells it from another file of that name."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One version of a table: the columns of its partitions, and its parts as the Delta log lists them."""

    partition_by: list[str]
    actions: pa.Table


NO_SNAPSHOT = Snapshot([], pa.Table.from_batches([], pa.schema({"path": pa.string(), "num_records": pa.int64()})))


def delta_table(root: Place, version: int | None = None) -> DeltaTable:
    """The table at a place, which Delta reads for itself. Raises DeltaError for a log it cannot read."""
    with asked_through_delta(root):
        return DeltaTable(str(root), version=version, storage_options=delta_options(root))


@contextmanager
def asked_through_delta(root: Place) -> Iterator[None]:
    """Raise StoreRefused where the server of an object store refuses Delta, which says so in lines with colours."""
    try:
        yield
    except StoreRefused:
        raise
    except OSError as refused:
        if isinstance(root, ObjectPlace):
            raise StoreRefused(errno.EIO, said_by_server(str(refused)), str(root)) from refused
        raise


def delta_options(root: Place) -> dict[str, str] | None:
    """How Delta reaches a place."""
    return root.storage.for_delta() if isinstance(root, ObjectPlace) else None


def newest_version(root: Place) -> Place | None:
    """The file of a table's newest version; None where there is no table.

    On an object store it is looked up once between two commits of a process that holds the lease.
    """
    known = newest_known(root)
    if known is None:
        return _listed_newest(root)
    if root not in known:
        known[root] = _listed_newest(root)
    return known[root]


def look_again(root: Place) -> None:
    """Forget what the newest version of a table was."""
    if (known := newest_known(root)) is not None:
        known.pop(root, None)


def _listed_newest(root: Place) -> Place | None:
    try:
        found = [path for path in (root / LOG_FOLDER).iterdir() if VERSION_FILE.fullmatch(path.name)]
    except (FileNotFoundError, NotADirectoryError):
        return None
    return max(found, key=lambda path: path.name) if found else None


def was_never_written(root: Place) -> bool:
    """Whether a table has neither a version nor a part, as a disk that is full at the first commit leaves it."""
    return newest_version(root) is None and not any(root.rglob("part-*.parquet"))


_opened: dict[Place, tuple[Mark, DeltaTable]] = {}
"""By folder, a table and the newest version that it was read at: reading a log takes as long as it has parts."""


def open_table(root: Place) -> DeltaTable | None:
    """The table as it is now; None where there is no table. Raises DeltaError for a log it cannot read."""
    seen = _newest(root)
    if seen is None:
        return None
    if (kept := _opened.get(root)) is not None and kept[0] == seen:
        return kept[1]
    delta = delta_table(root)
    _keep_open(root, seen, delta)
    return delta


def catch_up(root: Place, delta: DeltaTable) -> None:
    """Bring an opened table to the newest version, which this process has just written."""
    _opened.pop(root, None)
    look_again(root)
    with asked_through_delta(root):
        delta.update_incremental()
    seen = _newest(root)
    if seen is not None and delta.version() == int(PurePath(seen[0]).stem):
        _keep_open(root, seen, delta)


def _keep_open(root: Place, seen: Mark, delta: DeltaTable) -> None:
    _opened.pop(root, None)
    while len(_opened) >= MOST_OPENED:
        del _opened[next(iter(_opened))]
    _opened[root] = seen, delta


def _newest(root: Place) -> Mark | None:
    newest = newest_version(root)
    return None if newest is None else (newest.name, told_apart(newest))


def snapshot_of(root: Place) -> Snapshot:
    """The table as it is now; without parts where there is no table. Raises DeltaError for a log it cannot read."""
    seen = _newest(root)
    return NO_SNAPSHOT if seen is None else _snapshot(root, seen)


@lru_cache(maxsize=MOST_OPENED)
def _snapshot(root: Place, newest: Mark) -> Snapshot:
    delta = open_table(root) or delta_table(root)
    return Snapshot(delta.metadata().partition_columns, add_actions(delta))


def active_files(table: Table, root: Place, brokers: Collection[str] | None = None) -> list[Place]:
    """The Parquet files that are the table now, or those of them with rows of these brokers; none where there is no
    table."""
    return sorted(root / path for path in _of(table, snapshot_of(root).actions, brokers)["path"].to_pylist())


def partition_parts(table: Table, root: Place, brokers: Collection[str] | None = None) -> Iterator[Part]:
    """The parts that are the table now, or those of these brokers, with their partitions; none where there is no table.

    Raises OtherPartitions.
    """
    snapshot = snapshot_of(root)
    if snapshot is not NO_SNAPSHOT:
        require_partitions(table, snapshot.partition_by, root)
        yield from _parts(table, _of(table, snapshot.actions, brokers))


def rows_in(root: Place) -> int:
    """Rows of a table, from its log alone; 0 where there is no table."""
    return sum(snapshot_of(root).actions["num_records"].to_pylist())


def require_partitions(table: Table, partition_by: Sequence[str], root: Place) -> None:
    """Raise OtherPartitions where an earlier rocketlens made the table with others than are declared."""
    if list(partition_by) != list(table.partition_by):
        raise OtherPartitions(root)


def parts_of(
    table: Table, delta: DeltaTable, brokers: Collection[str] | None = None, paths: Collection[str] = ()
) -> Iterator[Part]:
    """The parts of one version of a table, or those of these brokers and paths, with their partitions."""
    yield from _parts(table, _of(table, add_actions(delta), brokers, paths))


def _of(table: Table, actions: pa.Table, brokers: Collection[str] | None, paths: Collection[str] = ()) -> pa.Table:
    """What the Delta log lists of the parts of these brokers and paths; of all parts where the table is not partitioned
    by brokers."""
    column = f"partition.{BROKER}"
    if brokers is None or BROKER not in table.partition_by or column not in actions.column_names:
        return actions
    of_brokers, named = (pa.array(sorted(wanted), pa.string()) for wanted in (brokers, paths))
    return actions.filter(pc.or_(pc.is_in(actions[column], of_brokers), pc.is_in(actions["path"], named)))


def _parts(table: Table, actions: pa.Table) -> Iterator[Part]:
    for action in actions.to_pylist():
        written = action["modification_time"]
        yield Part(
            path=str(action["path"]),
            size=int(action["size_bytes"]),
            rows=int(action["num_records"]),
            partition=_partition(table, action),
            written_ms=int(written.timestamp() * 1000) if isinstance(written, datetime) else int(written),
        )


def add_actions(delta: DeltaTable) -> pa.Table:
    """The parts of one version as the Delta log lists them: path, size_bytes, num_records, partition.NAME, …"""
    return pa.RecordBatchReader.from_stream(delta.get_add_actions(flatten=True)).read_all()  # pa.table brings pandas


def _partition(table: Table, action: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(action[f"partition.{name}"] for name in table.partition_by)
