"""The logs of Delta tables, read without a jar: their newest versions, and the parts that each is made of."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable

from pipelines.lake.delta.errors import OtherPartitions
from pipelines.lake.delta.parts import Part
from pipelines.lake.tables.table import Table

BROKER = "broker"
"""The first column that tables are partitioned by, if any."""
LOG_FOLDER = "_delta_log"
MOST_OPENED = 64
"""More tables than a lake has."""
VERSION_FILE = re.compile(r"\d+\.json")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One version of a table: the columns of its partitions, and its parts as Delta tells them."""

    partition_by: list[str]
    actions: pa.Table


NO_SNAPSHOT = Snapshot([], pa.Table.from_batches([], pa.schema({"path": pa.string(), "num_records": pa.int64()})))


def newest_version(root: Path) -> Path | None:
    """The file of a table's newest version; None where there is no table."""
    try:
        with os.scandir(root / LOG_FOLDER) as listing:
            names = [entry.name for entry in listing if VERSION_FILE.fullmatch(entry.name)]
    except (FileNotFoundError, NotADirectoryError):
        return None
    return root / LOG_FOLDER / max(names) if names else None


def was_never_written(root: Path) -> bool:
    """Whether a table has neither a version nor a part: a disk that is full at the first commit leaves its folders."""
    return newest_version(root) is None and not any(root.rglob("part-*.parquet"))


_opened: dict[Path, tuple[tuple[str, int, int], DeltaTable]] = {}
"""By folder, a table and the newest version that it was read at: reading a log takes as long as it has parts."""


def open_table(root: Path) -> DeltaTable | None:
    """The table as it is now; None where there is no table. Raises DeltaError for a log it cannot read."""
    seen = _newest(root)
    if seen is None:
        return None
    if (kept := _opened.get(root)) is not None and kept[0] == seen:
        return kept[1]
    delta = DeltaTable(str(root))
    _keep_open(root, seen, delta)
    return delta


def catch_up(root: Path, delta: DeltaTable) -> None:
    """Bring an opened table to the newest version, which this process has just written."""
    _opened.pop(root, None)
    delta.update_incremental()
    seen = _newest(root)
    if seen is not None and delta.version() == int(Path(seen[0]).stem):
        _keep_open(root, seen, delta)


def _keep_open(root: Path, seen: tuple[str, int, int], delta: DeltaTable) -> None:
    _opened.pop(root, None)
    while len(_opened) >= MOST_OPENED:
        del _opened[next(iter(_opened))]
    _opened[root] = seen, delta


def _newest(root: Path) -> tuple[str, int, int] | None:
    """Name, inode and time of a table's newest version."""
    newest = newest_version(root)
    if newest is None:
        return None
    seen = newest.stat()
    return newest.name, seen.st_ino, seen.st_mtime_ns


def snapshot_of(root: Path) -> Snapshot:
    """The table as it is now; without parts where there is no table. Raises DeltaError for a log it cannot read."""
    seen = _newest(root)
    return NO_SNAPSHOT if seen is None else _snapshot(root, *seen)


@lru_cache(maxsize=MOST_OPENED)
def _snapshot(root: Path, version: str, inode: int, written_ns: int) -> Snapshot:
    delta = open_table(root) or DeltaTable(str(root))
    return Snapshot(delta.metadata().partition_columns, add_actions(delta))


def active_files(table: Table, root: Path, brokers: Collection[str] | None = None) -> list[Path]:
    """The Parquet files that are the table now, or those of them with rows of these brokers; none where there is no
    table."""
    return sorted(root / path for path in _of(table, snapshot_of(root).actions, brokers)["path"].to_pylist())


def partition_parts(table: Table, root: Path, brokers: Collection[str] | None = None) -> Iterator[Part]:
    """The parts that are the table now, or those of these brokers, with their partitions; none where there is no table.

    Raises OtherPartitions.
    """
    snapshot = snapshot_of(root)
    if snapshot is not NO_SNAPSHOT:
        require_partitions(table, snapshot.partition_by, root)
        yield from _parts(table, _of(table, snapshot.actions, brokers))


def rows_in(root: Path) -> int:
    """Rows of a table, from its log alone; 0 where there is no table."""
    return sum(snapshot_of(root).actions["num_records"].to_pylist())


def require_partitions(table: Table, partition_by: Sequence[str], root: Path) -> None:
    """Raise OtherPartitions where an earlier rocketlens made the table with others than are declared."""
    if list(partition_by) != list(table.partition_by):
        raise OtherPartitions(root)


def parts_of(
    table: Table, delta: DeltaTable, brokers: Collection[str] | None = None, paths: Collection[str] = ()
) -> Iterator[Part]:
    """The parts of one version of a table, or those of these brokers and paths, with their partitions."""
    yield from _parts(table, _of(table, add_actions(delta), brokers, paths))


def _of(table: Table, actions: pa.Table, brokers: Collection[str] | None, paths: Collection[str] = ()) -> pa.Table:
    """What Delta tells of the parts of these brokers and paths: of all, where the table is not cut by brokers."""
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
    """The parts of one version as Delta tells them: path, size_bytes, num_records, partition.NAME, …"""
    return pa.RecordBatchReader.from_stream(delta.get_add_actions(flatten=True)).read_all()  # pa.table brings pandas


def _partition(table: Table, action: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(action[f"partition.{name}"] for name in table.partition_by)
