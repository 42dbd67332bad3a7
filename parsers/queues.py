"""The queues of a store, whatever keeps them: files of either type of unit, or a database."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from types import TracebackType
from typing import NamedTuple, Protocol, Self

import pyarrow as pa

from parsers.commitlog.layout import SMALLEST_MESSAGE
from parsers.consumequeue.batch import read_batch_queue, summarize_batch_queue
from parsers.consumequeue.layout import CQ_UNIT
from parsers.consumequeue.read import read_queue, units
from parsers.consumequeue.summary import QueueSummary, summarize_queue
from parsers.errors import DamageSink, OnDamage, StoreFormatError, report
from parsers.extents import data_end
from parsers.rocksdb.database import Database
from parsers.rocksdb.queue_table import QueueTable
from parsers.rocksdb.queue_units import queue_ends, summarize, units_to_batches
from parsers.store import QueueKey, Store, StoreFile


class Pointer(NamedTuple):
    """Where a unit points to: bytes of the CommitLog."""

    physical_offset: int
    msg_size: int


class SampledUnit(NamedTuple):
    """A unit by itself: where it points to, and its tags code."""

    physical_offset: int
    msg_size: int
    tags_code: int


class Queue(Protocol):
    """One queue of a store. What cannot be read of it goes the way that was said when it was opened."""

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Every unit, in order: see the schemas of the three kinds for the columns."""

    def summary(self, commitlog_min: int) -> QueueSummary:
        """Its offsets and how many units it has; `commitlog_min`: the byte where the CommitLog starts."""

    def ends(self, commitlog_min: int) -> tuple[int, int]:
        """The first message that still exists, and the next one to come."""

    def pointer(self, queue_offset: int) -> Pointer | None:
        """The record of a message number, None where there is no such message."""

    def last_pointer(self) -> Pointer | None:
        """The record of the last message, None without one."""

    def sample(self, most: int) -> Iterator[SampledUnit]:
        """Some units, `most` in a row at most; none of a queue of batches."""


@dataclass(frozen=True, slots=True)
class FileQueue:
    """A queue in files of 20-byte units, which are given in offset order."""

    files: Sequence[StoreFile]
    on_damage: OnDamage = "raise"
    damage: DamageSink | None = None

    def batches(self) -> Iterator[pa.RecordBatch]:
        return read_queue(self.files, on_damage=self.on_damage, damage=self.damage)

    def summary(self, commitlog_min: int) -> QueueSummary:
        return summarize_queue(self.files, commitlog_min=commitlog_min, on_damage=self.on_damage, damage=self.damage)

    def ends(self, commitlog_min: int) -> tuple[int, int]:
        found = self.summary(commitlog_min)
        return found.min_queue_offset, found.max_queue_offset

    def pointer(self, queue_offset: int) -> Pointer | None:
        for file in self.files:
            place = queue_offset - (file.base_offset or 0) // CQ_UNIT.size
            if 0 <= place < file.size // CQ_UNIT.size:
                try:
                    physical_offset, msg_size, _ = units(file)[place].item()
                except (StoreFormatError, IndexError):
                    return None
                return Pointer(physical_offset, msg_size) if msg_size > 0 else None
        return None

    def last_pointer(self) -> Pointer | None:
        for file in reversed(self.files):
            try:
                view = units(file)[: -(-data_end(file.path) // CQ_UNIT.size)]
            except StoreFormatError:
                continue
            written = view[view["msg_size"] >= SMALLEST_MESSAGE]
            if len(written):
                return Pointer(int(written[-1]["physical_offset"]), int(written[-1]["msg_size"]))
        return None

    def sample(self, most: int) -> Iterator[SampledUnit]:
        for file in self.files:
            try:
                yield from map(SampledUnit._make, units(file)[:most].tolist())
            except StoreFormatError:
                continue


@dataclass(frozen=True, slots=True)
class BatchQueue:
    """A queue in files of 46-byte units, one for each record: a message number alone leads to none of them."""

    files: Sequence[StoreFile]
    on_damage: OnDamage = "raise"
    damage: DamageSink | None = None

    def batches(self) -> Iterator[pa.RecordBatch]:
        return read_batch_queue(self.files, on_damage=self.on_damage, damage=self.damage)

    def summary(self, commitlog_min: int) -> QueueSummary:
        return summarize_batch_queue(
            self.files, commitlog_min=commitlog_min, on_damage=self.on_damage, damage=self.damage
        )

    def ends(self, commitlog_min: int) -> tuple[int, int]:
        found = self.summary(commitlog_min)
        return found.min_queue_offset, found.max_queue_offset

    def pointer(self, queue_offset: int) -> Pointer | None:
        return None

    def last_pointer(self) -> Pointer | None:
        return None

    def sample(self, most: int) -> Iterator[SampledUnit]:
        yield from ()


@dataclass(frozen=True, slots=True)
class DatabaseQueue:
    """A queue in a database."""

    table: QueueTable
    key: QueueKey

    def batches(self) -> Iterator[pa.RecordBatch]:
        return units_to_batches(self.table, self.key)

    def summary(self, commitlog_min: int) -> QueueSummary:
        return summarize(self.table, self.key, commitlog_min)

    def ends(self, commitlog_min: int) -> tuple[int, int]:
        return queue_ends(self.table, self.key, commitlog_min)

    def unit(self, queue_offset: int) -> dict[str, int] | None:
        """The unit of a message number within the queue's end, None without one."""
        queue = self.table.limits[self.key]
        return self.table.unit_or_none(queue, queue_offset) if queue_offset <= queue.last_queue_offset else None

    def pointer(self, queue_offset: int) -> Pointer | None:
        unit = self.unit(queue_offset)
        return None if unit is None else Pointer(unit["physical_offset"], unit["msg_size"])

    def last_pointer(self) -> Pointer | None:
        return self.pointer(self.table.limits[self.key].last_queue_offset)

    def sample(self, most: int) -> Iterator[SampledUnit]:
        for found in islice(self.table.units(self.table.limits[self.key]), 1):
            fields = (found[name][:most].tolist() for name in SampledUnit._fields)
            yield from map(SampledUnit, *fields)


class StoreQueues(Mapping[QueueKey, Queue]):
    """The queues of a store in order of topic and number, opened; close them, or leave them as a context.

    Where a store has queues both in files and in a database (rocksdbCQDoubleWriteEnable, or it was moved from one to
    the other), those that come further in the CommitLog are the store's; the files, where both come as far.

    Attributes:
        table: the database of queues, also where the files are the store's; None without one.
        unread: why the database cannot be read; None where there is none, or where it can.
    """

    def __init__(self, store: Store, *, on_damage: OnDamage = "raise", damage: DamageSink | None = None) -> None:
        """What cannot be read, now or later, is raised, or with "collect" goes to `damage`."""
        self._store, self._on_damage, self._damage = store, on_damage, damage
        self.unread: str | None = None
        self.table = self._opened(store.queue_database)
        files: dict[QueueKey, Queue] = {
            **{key: BatchQueue(files, on_damage, damage) for key, files in store.batch_queues.items()},
            **{key: FileQueue(files, on_damage, damage) for key, files in store.queues.items()},
        }
        self.in_database = self.table is not None and (not files or _end(files) < _dispatched_to(self.table))
        if self.table is not None and self.in_database:
            files = {key: DatabaseQueue(self.table, key) for key in self.table.limits}
        self._queues = {key: files[key] for key in sorted(files)}

    def __getitem__(self, key: QueueKey) -> Queue:
        return self._queues[key]

    def __iter__(self) -> Iterator[QueueKey]:
        return iter(self._queues)

    def __len__(self) -> int:
        return len(self._queues)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def holders(self) -> list[StoreFile]:
        """The files that hold the units of these queues, queue by queue, or the database that does."""
        store = self._store
        files = sorted([*store.queues.items(), *store.batch_queues.items()])
        if store.queue_database is not None and (self.in_database or not files):
            return [store.queue_database]
        return [file for _, of_queue in files for file in of_queue]

    def close(self) -> None:
        """Let the database go; a second time does nothing."""
        if self.table is not None:
            self.table.close()

    def _opened(self, database: StoreFile | None) -> QueueTable | None:
        if database is None:
            return None
        try:
            return open_queue_table(database, self._on_damage, self._damage)
        except StoreFormatError as error:
            self.unread = str(error)
            report(error, self._on_damage, self._damage)
            return None


def open_queue_table(database: StoreFile, on_damage: OnDamage, damage: DamageSink | None) -> QueueTable:
    """The queues in a database. Raises StoreFormatError: it cannot be read at all."""
    opened = Database(database.path)
    try:
        return QueueTable(opened, lambda error: report(error, on_damage, damage))
    except StoreFormatError:
        opened.close()
        raise


def unit_files(store: Store) -> list[StoreFile]:
    """The files that hold the units of a store's queues, queue by queue, or the database that does."""
    with StoreQueues(store, on_damage="collect") as queues:
        return queues.holders()


def read_units(
    file: StoreFile,
    *,
    topics: Collection[str] | None = None,
    on_damage: OnDamage = "raise",
    damage: DamageSink | None = None,
) -> Iterator[pa.RecordBatch]:
    """The units of one file, or those of a database, of all topics when these are None."""
    if file.kind == "rocksdb":
        return _database_units(file, topics, on_damage, damage)
    read = read_batch_queue if file.kind == "batchconsumequeue" else read_queue
    return read([file], on_damage=on_damage, damage=damage)


def _database_units(
    file: StoreFile, topics: Collection[str] | None, on_damage: OnDamage, damage: DamageSink | None
) -> Iterator[pa.RecordBatch]:
    try:
        table = open_queue_table(file, on_damage, damage)
    except StoreFormatError as error:
        report(error, on_damage, damage)
        return
    try:
        for key in table.limits:
            if topics is None or key[0] in topics:
                yield from units_to_batches(table, key)
    finally:
        table.close()


def _end(queues: Mapping[QueueKey, Queue]) -> int:
    """The CommitLog byte behind the last message of any queue; -1 without one."""
    pointers = [queue.last_pointer() for queue in queues.values() if isinstance(queue, FileQueue)]
    ends = [pointer.physical_offset + pointer.msg_size for pointer in pointers if pointer is not None]
    summaries = [queue.summary(0) for queue in queues.values() if isinstance(queue, BatchQueue)]
    return max([*ends, *(found.max_physical_offset or -1 for found in summaries)], default=-1)


def _dispatched_to(table: QueueTable) -> int:
    last = (queue.last.physical_offset for queue in table.limits.values() if queue.last is not None)
    return max(last, default=-1) if table.dispatched_to is None else table.dispatched_to
