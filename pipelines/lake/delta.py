"""Delta tables without a jar: Parquet parts written anywhere, and the parts that a table is made of.

`broker` and `file` are in the Parquet files as well as in Delta's partition values, so a reader needs only the list of
active files (never a glob: a glob also finds the parts that were replaced).
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import re
import time
import uuid
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from deltalake import DeltaTable

from pipelines.lake.errors import OtherPartitions, PartsMissing
from pipelines.lake.tables.raw_table import FileTable
from pipelines.lake.tables.table import Table

ROW_GROUP_ROWS = 1 << 17
PART_ROWS = 1 << 24
"""A part with so many rows is followed by another."""
WAITING_BYTES = 64 << 20
"""Rows wait in memory until they fill a row group or so many bytes."""
BROKER = "broker"
"""The first column that tables are partitioned by, if any."""
LOG_FOLDER = "_delta_log"
MOST_OPENED = 64
"""More tables than a lake has."""
VERSION_FILE = re.compile(r"\d+\.json")
FILES_KEY = b"rocketlens.files"
"""Key, in the footer of a part with rows of several files, of their names with their rows, as JSON."""
ZSTD_LEVEL = 1
"""Level 3, the default, takes a tenth longer and saves nothing on these columns."""
SELDOM_TWICE = frozenset({"keys", "unique_id", "message_id", "value", "body", "body_decompressed", "sha256"})
"""Text that a dictionary only makes larger and slower, and whose bounds skip nothing: `value` is a property's."""


@dataclass(frozen=True, slots=True)
class Part:
    """One Parquet file that a task wrote: its path below the table's root, and the partition it belongs to."""

    path: str
    size: int
    rows: int
    partition: tuple[str, ...]
    written_ms: int


def new_job() -> str:
    """A text for the names of the parts of one job, which no other job has."""
    return uuid.uuid4().hex[:12]


def write_parts(table: Table, root: Path, job: str, batches: Iterable[pa.RecordBatch]) -> list[Part]:
    """Write batches of the table's `bare_schema` as zstd Parquet, one file per run of rows with equal partition values.

    Nothing is committed yet.
    """
    writer = PartsWriter(table, root, job)
    for batch in batches:
        writer.write(batch)
    return writer.close()


def remove_job(root: Path, job: str) -> None:
    """Remove the parts that a job wrote and did not commit."""
    for part in root.rglob(f"part-{job}-*"):
        part.unlink(missing_ok=True)


class PartsWriter:
    """Writes the parts of one table for a caller who has the batches of several tables at a time."""

    def __init__(self, table: Table, root: Path, job: str) -> None:
        self._table, self._root, self._job = table, root, job
        self._parts: list[Part] = []
        self._open: _OpenPart | None = None

    def write(self, batch: pa.RecordBatch) -> None:
        for partition, piece in _runs(self._table, batch):
            if self._open is None or self._open.partition != partition or self._open.rows >= PART_ROWS:
                self._close_open()
                self._open = _OpenPart(self._table, self._root, self._job, partition)
            self._open.write(piece)

    def close(self) -> list[Part]:
        self._close_open()
        return self._parts

    def _close_open(self) -> None:
        self._parts += [] if self._open is None else [self._open.close()]
        self._open = None


def _runs(table: Table, batch: pa.RecordBatch) -> Iterator[tuple[tuple[str, ...], pa.RecordBatch]]:
    """A batch cut where a partition value changes."""
    if batch.num_rows:
        for start, end in _boundaries(batch, table.partition_by):
            piece = batch.slice(start, end - start)
            yield tuple(piece.column(name)[0].as_py() for name in table.partition_by), piece


def _boundaries(batch: pa.RecordBatch, names: Sequence[str]) -> list[tuple[int, int]]:
    cuts = {0, batch.num_rows}
    for name in names:
        encoded = pc.run_end_encode(batch.column(name))
        cuts.update(encoded.run_ends.to_pylist())
    edges = sorted(cuts)
    return list(itertools.pairwise(edges))


class _OpenPart:
    def __init__(self, table: Table, root: Path, job: str, partition: tuple[str, ...]) -> None:
        folders = [_folder(value) for value in partition]
        self.partition, self.rows = partition, 0
        self.rows_of_files = Counter[str]() if isinstance(table, FileTable) and table.is_packed else None
        self.waiting, self.waiting_rows, self.waiting_bytes = list[pa.RecordBatch](), 0, 0
        self.relative = "/".join([*folders, f"part-{job}-{uuid.uuid4().hex}.zstd.parquet"])
        self.place = root / self.relative
        self.place.parent.mkdir(parents=True, exist_ok=True)
        self.schema = table.bare_schema
        leaves = {path: kind for field in self.schema for path, kind in _leaves(field.name, field.type)}
        repeated = [path for path in leaves if path.rsplit(".", 1)[-1] not in SELDOM_TWICE]
        self.writer = pq.ParquetWriter(
            self.place,
            self.schema,
            compression="zstd",
            compression_level=ZSTD_LEVEL,
            use_dictionary=[path for path in repeated if pa.types.is_string(leaves[path])],
            write_statistics=repeated,
        )

    def write(self, batch: pa.RecordBatch) -> None:
        self.rows += batch.num_rows
        if self.rows_of_files is not None:
            for counted in pc.value_counts(batch.column("file")).to_pylist():
                self.rows_of_files[counted["values"]] += counted["counts"]
        self.waiting.append(batch)
        self.waiting_rows += batch.num_rows
        self.waiting_bytes += batch.nbytes
        if self.waiting_rows >= ROW_GROUP_ROWS or self.waiting_bytes >= WAITING_BYTES:
            self.flush()

    def flush(self) -> None:
        """Write what waits: the rows of small files make row groups together."""
        rows = pa.Table.from_batches(self.waiting, self.schema)
        self.waiting, self.waiting_rows, self.waiting_bytes = [], 0, 0
        self.writer.write_table(rows, row_group_size=ROW_GROUP_ROWS)

    def close(self) -> Part:
        if self.waiting:
            self.flush()
        if self.rows_of_files is not None:
            self.writer.add_key_value_metadata({FILES_KEY: json.dumps(self.rows_of_files).encode()})
        self.writer.close()
        return Part(self.relative, self.place.stat().st_size, self.rows, self.partition, int(time.time() * 1000))


def _leaves(path: str, kind: pa.DataType) -> Iterator[tuple[str, pa.DataType]]:
    """The columns that Parquet stores for one of Arrow's: their paths and types."""
    if pa.types.is_list(kind):
        yield from _leaves(f"{path}.list.element", kind.value_type)
    elif pa.types.is_struct(kind):
        for part in kind:
            yield from _leaves(f"{path}.{part.name}", part.type)
    else:
        yield path, kind


def _folder(value: str) -> str:
    """A folder for a partition value, in characters that no reader decodes or takes for a pattern.

    Delta keeps the value itself; the folder only has to be a name that is different for different values.
    """
    plain = re.sub(r"[^A-Za-z0-9._-]+", "_", value).strip(".")[:80]
    return plain if plain == value else f"{plain}-{hashlib.sha256(value.encode()).hexdigest()[:8]}"


def files_in(path: Path) -> Counter[str]:
    """The files whose rows a part of a packed table holds, with how many, from its footer.

    Raises PartsMissing for a part that cannot be read.
    """
    with part_that_is_there(path):
        return Counter(json.loads((pq.read_metadata(path).metadata or {})[FILES_KEY]))


@contextmanager
def part_that_is_there(path: Path) -> Iterator[None]:
    """Raise PartsMissing where a part cannot be read."""
    try:
        yield
    except (OSError, pa.ArrowInvalid, KeyError) as refused:
        raise PartsMissing(
            f"{path}: a part of the lake is not there or not whole: `rocketlens check-lake --repair` puts it right"
        ) from refused


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
