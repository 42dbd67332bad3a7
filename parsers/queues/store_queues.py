"""The queues of a store, whatever keeps them: files of either type of unit, or a database."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from types import TracebackType
from typing import Self

import pyarrow as pa

from parsers.consumequeue.batch import read_batch_queue
from parsers.consumequeue.read import read_queue
from parsers.damage.errors import DamageSink, StoreFormatError, report, unheard
from parsers.queues.queue import BatchQueue, DatabaseQueue, FileQueue, Queue
from parsers.rocksdb.database import Database
from parsers.rocksdb.queue_table import QueueTable
from parsers.rocksdb.queue_units import units_to_batches
from parsers.store.store import Store
from parsers.store.store_file import QueueKey, StoreFile


class StoreQueues(Mapping[QueueKey, Queue]):
    """The queues of a store in order of topic and number, opened; close them, or leave them as a context.

    Where a store has queues both in files and in a database (rocksdbCQDoubleWriteEnable, or it was moved from one to
    the other), those that its broker answers from are the store's; where nobody said which (`reads_queue_database`),
    those that come further in the CommitLog; the files, where both come as far.

    Attributes:
        table: the database of queues, also where the files are the store's; None without one.
        unread: why the database cannot be read; None where there is none, or where it can.
    """

    def __init__(self, store: Store, *, damage: DamageSink | None = None) -> None:
        """What cannot be read, now or later, goes to `damage`, or is raised without that."""
        self._store, self._damage = store, damage
        self.unread: str | None = None
        self.table = self._opened(store.queue_database)
        files: dict[QueueKey, Queue] = {
            **{key: BatchQueue(files, damage) for key, files in store.batch_queues.items()},
            **{key: FileQueue(files, damage) for key, files in store.queues.items()},
        }
        self.in_database = self.table is not None and (not files or self._reads(self.table, files))
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

    def _reads(self, table: QueueTable, files: Mapping[QueueKey, Queue]) -> bool:
        said = self._store.reads_queue_database
        return _end(files) < _dispatched_to(table) if said is None else said

    def _opened(self, database: StoreFile | None) -> QueueTable | None:
        if database is None:
            return None
        try:
            return open_queue_table(database, self._damage)
        except StoreFormatError as error:
            self.unread = str(error)
            report(error, self._damage)
            return None


def open_queue_table(database: StoreFile, damage: DamageSink | None) -> QueueTable:
    """The queues in a database. Raises StoreFormatError: it cannot be read at all."""
    opened = Database(database.path)
    try:
        return QueueTable(opened, lambda error: report(error, damage))
    except StoreFormatError:
        opened.close()
        raise


def unit_files(store: Store) -> list[StoreFile]:
    """The files that hold the units of a store's queues, queue by queue, or the database that does."""
    with StoreQueues(store, damage=unheard) as queues:
        return queues.holders()


def read_units(
    file: StoreFile, *, topics: Collection[str] | None = None, damage: DamageSink | None = None
) -> Iterator[pa.RecordBatch]:
    """The units of one file, or those of a database, of all topics when these are None."""
    if file.kind == "rocksdb":
        return _database_units(file, topics, damage)
    read = read_batch_queue if file.kind == "batchconsumequeue" else read_queue
    return read([file], damage=damage)


def _database_units(
    file: StoreFile, topics: Collection[str] | None, damage: DamageSink | None
) -> Iterator[pa.RecordBatch]:
    try:
        table = open_queue_table(file, damage)
    except StoreFormatError as error:
        report(error, damage)
        return
    try:
        for key in table.limits:
            if topics is None or key[0] in topics:
                yield from units_to_batches(table, key)
    finally:
        table.close()


def _end(queues: Mapping[QueueKey, Queue]) -> int:
    """The CommitLog byte after the last message of any queue; -1 without one."""
    pointers = [queue.last_pointer() for queue in queues.values() if isinstance(queue, FileQueue)]
    ends = [pointer.physical_offset + pointer.msg_size for pointer in pointers if pointer is not None]
    summaries = [queue.summary(0) for queue in queues.values() if isinstance(queue, BatchQueue)]
    return max([*ends, *(found.max_physical_offset or -1 for found in summaries)], default=-1)


def _dispatched_to(table: QueueTable) -> int:
    last = (queue.last.physical_offset for queue in table.limits.values() if queue.last is not None)
    return max(last, default=-1) if table.dispatched_to is None else table.dispatched_to
