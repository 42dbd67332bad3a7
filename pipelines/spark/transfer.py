"""From a broker's store into a table of the lake: what there is to read as work for Spark's tasks, and its commit."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from pyspark.sql.datasource import InputPartition

from pipelines.lake.configuration.addressed_stores import at_hand
from pipelines.lake.configuration.sources import BrokerSource
from pipelines.lake.delta.commit import commit, discard
from pipelines.lake.delta.packed import Repacked, repack
from pipelines.lake.delta.parts import Part, new_job, remove_job, write_parts
from pipelines.lake.lake import Lake
from pipelines.lake.tables.raw import STORE_FILES, TABLES
from pipelines.lake.tables.raw_table import FileTable
from pipelines.objects.place import Place
from pipelines.spark.sources.registry import source_of
from pipelines.spark.sources.slices import Piece, Slice
from pipelines.spark.sources.source import StoreReader, table_of
from pipelines.spark.workers import on_workers

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

    from pipelines.objects.listing import StoreView

Work = Callable[[], Iterator["pa.RecordBatch"]]
"""Makes rows of a table when it is called, batch by batch. It travels to a worker as a pickle."""


@dataclass(frozen=True, slots=True)
class SliceWork:
    """Read one slice of a store. `view`: of one at an address; the bytes of the slice are fetched."""

    reader: StoreReader
    slice_: InputPartition
    view: StoreView | None = None

    def __call__(self) -> Iterator[pa.RecordBatch]:
        with at_hand(self.view):
            yield from self.reader.read(self.slice_)

    @property
    def pieces(self) -> Sequence[Piece]:
        return self.slice_.pieces if isinstance(self.slice_, Slice) else ()


@dataclass(frozen=True, slots=True)
class Written:
    """The parts that one task wrote, the files that it could not read, with why, and those that it read in part only,
    because they hold more than what the work is read as far as."""

    parts: list[Part]
    unread: dict[str, str]
    cut: frozenset[str]


class Left(NamedTuple):
    """Files of which not all was read: `unread` ones with why, and those that are `cut` where the broker is read as far
    as (`BrokerSource.until`)."""

    unread: dict[str, str]
    cut: frozenset[str]


def slices_of(
    broker: BrokerSource, table: str, files: Sequence[str] | None = None, options: Mapping[str, str] | None = None
) -> list[SliceWork]:
    """The slices that the data source of a table cuts one broker's store into: named files of it (paths below the
    root), or all; `options` are the data source's."""
    given = {"store": str(broker.store), "broker": broker.name, **(options or {})}
    if broker.version is not None:
        given["version"] = broker.version
    if broker.broker_conf is not None:
        given["broker_conf"] = str(broker.broker_conf)
    if broker.settings:
        given["settings"] = json.dumps(dict(broker.settings))
    if broker.until is not None:
        given["until"] = str(broker.until)
    if files is not None:
        given["files"] = json.dumps(list(files))
    reader = source_of(table).reader_class(given, TABLES[table].bare_schema.names, table)
    return [SliceWork(reader, slice_, broker.view) for slice_ in reader.partitions()]


def write_table(
    spark: SparkSession, lake: Lake, table: str, work: Sequence[Work], replaced: Iterable[tuple[str, ...]] | None
) -> dict[str, str]:
    """Do the work on Spark, a task for each, and commit the rows it makes, those of `table`, in one Delta transaction.

    What passes through Spark is the work and the names of the parts. The rows are made in the worker and written there:
    through the JVM they would cost several times what decoding and writing them costs.

    Args:
        replaced: partitions whose present rows go with it (see pipelines.lake.delta.commit.commit).
    Returns:
        The files that could not be read, with why.
    Raises:
        WorkFailed: a task failed or a worker died; the table is as it was.
    """
    written = _written(spark, lake, table, work)
    commit(TABLES[table], lake.table_root(table), [part for one in written for part in one.parts], replaced)
    return {file: why for one in written for file, why in one.unread.items()}


def write_files(
    spark: SparkSession,
    lake: Lake,
    table: str,
    work: Sequence[SliceWork],
    replaced: Sequence[tuple[str, str]],
    *,
    at_version: int | None,
    lost: Mapping[str, str],
) -> Left:
    """Write a table's rows of store files, as `write_table`; the files of which not all was read.

    Args:
        replaced: (broker, file) of the files whose present rows go with it. Of an unread file they stay, and nothing of
            what was read of it is added; only `store_files` says of it why, if it is there still.
        at_version: the version of the table that the work was planned from.
        lost: files that are unread already, with why.
    Raises:
        LakeMoved: the table has gone on from that version.
    """
    written = _written(spark, lake, table, work)
    unread = {**lost, **{file: why for one in written for file, why in one.unread.items()}}
    left = Left(unread, frozenset().union(*(one.cut for one in written)))
    left_out = set(lost) if table == STORE_FILES.name else set(unread)
    parts = [part for one in written for part in one.parts]
    gone = [key for key in replaced if key[1] not in left_out]
    declared, root = TABLES[table], lake.table_root(table)
    if isinstance(declared, FileTable) and declared.is_packed:
        packed = _repacked(declared, root, parts, gone, left_out)
        commit(declared, root, packed.parts, [], without=packed.without, at_version=at_version)
        return left
    kept = [part for part in parts if part.partition[1] not in left_out]
    discard(root, [part for part in parts if part.partition[1] in left_out])
    commit(declared, root, kept, gone, at_version=at_version)
    return left


def _repacked(
    table: FileTable, root: Place, parts: Sequence[Part], gone: Sequence[tuple[str, str]], left_out: set[str]
) -> Repacked:
    """New parts packed with those of the table; what is not needed of them, or nothing of them when it fails, stays."""
    job = new_job()
    try:
        packed = repack(table, root, job, parts, gone, left_out)
    except BaseException:
        remove_job(root, job)
        discard(root, parts)
        raise
    discard(root, packed.unneeded)
    return packed


def _written(spark: SparkSession, lake: Lake, table: str, work: Sequence[Work]) -> list[Written]:
    """What the tasks wrote; when one fails, nothing of it stays."""
    root, job = lake.table_root(table), new_job()
    try:
        return on_workers(spark, _WriteParts(table, root, job), work, table)
    except BaseException:
        remove_job(root, job)
        raise


@dataclass(frozen=True, slots=True)
class _WriteParts:
    """Called in a worker with work on one table. A task that is tried again leaves parts that nobody refers to."""

    table: str
    root: Place
    job: str

    def __call__(self, make: Work) -> Written:
        parts = write_parts(table_of(self.table), self.root, self.job, make())
        if isinstance(make, SliceWork):
            return Written(parts, make.reader.unread, frozenset(make.reader.cut))
        return Written(parts, {}, frozenset())
