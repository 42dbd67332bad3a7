"""Delta tables without a jar: Parquet parts written anywhere, recorded in one transaction here.

`broker` and `file` are in the Parquet files as well as in Delta's partition values, so a reader needs only the list of
active files (never a glob: a glob also finds the parts that were replaced).
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from deltalake import DeltaTable, Schema
from deltalake.transaction import AddAction, CommitProperties, RemoveAction

from pipelines.lake.tables.table import Table

ROW_GROUP_ROWS = 1 << 17
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


class LakeMismatch(Exception):
    """The table in the lake has another type for a column than this version of rocketlens."""


def write_parts(table: Table, root: Path, batches: Iterable[pa.RecordBatch]) -> list[Part]:
    """Write batches of the table's `bare_schema` as zstd Parquet, one file per run of rows with equal partition values.

    Nothing is committed yet.
    """
    writer = PartsWriter(table, root)
    for batch in batches:
        writer.write(batch)
    return writer.close()


class PartsWriter:
    """The same for whoever has the batches of several tables at a time."""

    def __init__(self, table: Table, root: Path) -> None:
        self._table, self._root = table, root
        self._parts: list[Part] = []
        self._open: _OpenPart | None = None

    def write(self, batch: pa.RecordBatch) -> None:
        for partition, piece in _runs(self._table, batch):
            if self._open is None or self._open.partition != partition:
                self._close_open()
                self._open = _OpenPart(self._table, self._root, partition)
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
    def __init__(self, table: Table, root: Path, partition: tuple[str, ...]) -> None:
        folders = [_folder(value) for value in partition]
        self.partition, self.rows = partition, 0
        self.relative = "/".join([*folders, f"part-{uuid.uuid4().hex}.zstd.parquet"])
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
        self.writer.write_batch(batch, row_group_size=ROW_GROUP_ROWS)

    def close(self) -> Part:
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


def commit(table: Table, root: Path, parts: Sequence[Part], replaced: Iterable[tuple[str, ...]] | None) -> int:
    """Record parts in one transaction and return the table's new version.

    Args:
        replaced: partitions whose present rows go in the same transaction; None replaces the whole table, an empty
            list only appends. A partition named here that gets no part is empty afterwards.
    """
    delta = ensure_table(table, root)
    wanted = None if replaced is None else set(replaced)
    gone = [_remove(p.path) for p in partition_parts(table, root) if wanted is None or p.partition in wanted]
    if not parts and not gone:
        return delta.version()
    delta.create_write_transaction(
        [_add(table, part) for part in parts] + gone,
        mode="append",
        schema=_delta_schema(table.schema),
        partition_by=list(table.partition_by),
        commit_properties=CommitProperties(max_commit_retries=10),
    )
    return DeltaTable(str(root)).version()


def ensure_table(table: Table, root: Path) -> DeltaTable:
    """The Delta table, created empty if it is not there, widened by columns it does not have yet."""
    if not DeltaTable.is_deltatable(str(root)):
        return DeltaTable.create(
            str(root),
            _delta_schema(table.schema),
            mode="ignore",
            partition_by=list(table.partition_by) or None,
            name=table.name,
            description=f"One row: {table.grain}",
        )
    delta = DeltaTable(str(root))
    wanted = {field.name: field for field in _delta_schema(table.schema).fields}
    present = {field.name: field for field in delta.schema().fields}
    for name in wanted.keys() & present.keys():
        if wanted[name].type != present[name].type:
            raise LakeMismatch(f"{root}: column {name} is {present[name].type} there and {wanted[name].type} here")
    if missing := [wanted[column.name] for column in table.columns if column.name not in present]:
        delta.alter.add_columns(missing)
        return DeltaTable(str(root))
    return delta


def active_files(root: Path) -> list[Path]:
    """The Parquet files that are the table now; none where there is no table."""
    return sorted(root / str(action["path"]) for action in _actions(root))


def partition_parts(table: Table, root: Path) -> Iterator[Part]:
    """The parts that are the table now, with their partitions."""
    for action in _actions(root):
        written = action["modification_time"]
        yield Part(
            path=str(action["path"]),
            size=int(action["size_bytes"]),
            rows=int(action["num_records"]),
            partition=_partition(table, action),
            written_ms=int(written.timestamp() * 1000) if isinstance(written, datetime) else int(written),
        )


def _actions(root: Path) -> list[dict[str, Any]]:
    if not DeltaTable.is_deltatable(str(root)):
        return []
    actions: list[dict[str, Any]] = pa.table(DeltaTable(str(root)).get_add_actions(flatten=True)).to_pylist()
    return actions


def _partition(table: Table, action: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(action[f"partition.{name}"] for name in table.partition_by)


def _add(table: Table, part: Part) -> AddAction:
    return AddAction(
        path=part.path,
        size=part.size,
        partition_values=dict(zip(table.partition_by, part.partition, strict=True)),
        modification_time=part.written_ms,
        data_change=True,
        stats=json.dumps({"numRecords": part.rows}),
    )


def _remove(path: str) -> RemoveAction:
    return RemoveAction(path=path, data_change=True, deletion_timestamp=int(time.time() * 1000))


def _delta_schema(schema: pa.Schema) -> Schema:
    return Schema.from_arrow(schema)
