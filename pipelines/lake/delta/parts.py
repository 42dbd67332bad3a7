"""The Parquet parts of a table: written anywhere by anybody, and the table's once its log names them.

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
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pipelines.lake.delta.errors import PartsMissing
from pipelines.lake.tables.raw_table import FileTable
from pipelines.lake.tables.table import Table
from pipelines.objects.both import readable
from pipelines.objects.place import ObjectPlace, Place, StoreRefused

ROW_GROUP_ROWS = 1 << 17
PART_ROWS = 1 << 24
"""A part with so many rows is followed by another."""
WAITING_BYTES = 64 << 20
"""Rows wait in memory until they fill a row group or so many bytes."""
FILES_KEY = b"rocketlens.files"
"""Key, in the footer of a part with rows of several files, of their names with their rows, as JSON."""
ZSTD_LEVEL = 1
"""Level 3, the default, takes a tenth longer and saves nothing on these columns."""
SELDOM_TWICE = frozenset({"keys", "unique_id", "message_id", "value", "body", "body_decompressed", "sha256"})
"""Text that a dictionary only makes larger and slower, and whose bounds skip nothing: `value` is a property's."""

NEAR_THE_LAST = frozenset({"physical_offset", "queue_offset", "total_size", "msg_size", "body_size", "queue_id"})
"""Numbers that are near that of the row before: as differences they are smaller, and faster to write and to read."""


@dataclass(frozen=True, slots=True)
class Part:
    """One Parquet file that a task wrote: its path below the table's root, and the partition it belongs to."""

    path: str
    size: int
    rows: int
    partition: tuple[str, ...]
    written_ms: int


def new_job() -> str:
    """A name for the parts of one job that no other job has."""
    return uuid.uuid4().hex[:12]


def write_parts(table: Table, root: Place, job: str, batches: Iterable[pa.RecordBatch]) -> list[Part]:
    """Write batches of the table's `bare_schema` as zstd Parquet, one file per run of rows with equal partition values.

    Nothing is committed yet.
    """
    with PartsWriter(table, root, job) as writer:
        for batch in batches:
            writer.write(batch)
        return writer.close()


def remove_job(root: Place, job: str) -> None:
    """Remove the parts that a job wrote and did not commit. What a server refuses to remove is left to `vacuum`."""
    with suppress(StoreRefused):
        for part in root.rglob(f"part-{job}-*"):
            part.unlink(missing_ok=True)


class PartsWriter:
    """Writes the parts of one table for a caller who has the batches of several tables at a time.

    A part on an object store is there when it is closed; where its context ends before, nothing of it stays.
    """

    def __init__(self, table: Table, root: Place, job: str) -> None:
        self._table, self._root, self._job = table, root, job
        self._parts: list[Part] = []
        self._open: _OpenPart | None = None

    def __enter__(self) -> PartsWriter:
        return self

    def __exit__(self, *how: object) -> None:
        if self._open is not None:
            self._open.discard()
            self._open = None

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
    def __init__(self, table: Table, root: Place, job: str, partition: tuple[str, ...]) -> None:
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
        self.sink = self.place.open_to_write() if isinstance(self.place, ObjectPlace) else None
        self.writer = pq.ParquetWriter(
            self.sink or self.place,
            self.schema,
            compression="zstd",
            compression_level=ZSTD_LEVEL,
            use_dictionary=[path for path in repeated if pa.types.is_string(leaves[path])],
            write_statistics=[path for path in repeated if path in self.schema.names],  # of a list they skip nothing
            column_encoding={path: "DELTA_BINARY_PACKED" for path in leaves if path in NEAR_THE_LAST},
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
        if self.sink is not None:
            self.sink.close()
        return Part(self.relative, self.place.stat().st_size, self.rows, self.partition, int(time.time() * 1000))

    def discard(self) -> None:
        """Drop a part that is not finished."""
        if self.sink is not None:
            self.sink.discard()


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


def files_in(path: Place) -> Counter[str]:
    """The files whose rows a part of a packed table holds, with how many, from its footer.

    Raises PartsMissing for a part that cannot be read.
    """
    with part_that_is_there(path):
        return Counter(json.loads((pq.read_metadata(readable(path)).metadata or {})[FILES_KEY]))


@contextmanager
def part_that_is_there(path: Place) -> Iterator[None]:
    """Raise PartsMissing where a part cannot be read. What the server of an object store refuses may be there."""
    try:
        yield
    except StoreRefused:
        raise
    except (OSError, pa.ArrowInvalid, KeyError) as refused:
        raise PartsMissing(
            f"{path}: a part of the lake is not there or not whole: `rocketlens check-lake --repair` puts it right"
        ) from refused
