"""The queues of a broker in RocksDB: what it holds of each, what dispatch adds, what a truncation takes back.

The database is read where it lies; what a start writes stays in memory.
Source: RocksDBConsumeQueueStore, RocksDBConsumeQueueTable, RocksDBConsumeQueueOffsetTable @5.3.1, 5.3.3, 5.5.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Self

import numpy as np
import numpy.typing as npt

from parsers.kernels.arrays import Longs
from parsers.rocksdb.queue_table import Limit, QueueLimits, QueueTable
from parsers.values.java import to_long
from recovery.broker.mapped_file_queue import FileList
from recovery.broker.store_folder import QueueKey
from recovery.rules.dispatch import QueueUnit

Units = npt.NDArray[np.void]
NONE: Longs = np.empty(0, np.int64)


def held(sorted_offsets: Longs, wanted: Longs) -> npt.NDArray[np.bool_]:
    """Which of the wanted offsets are among the sorted ones."""
    if not len(sorted_offsets):
        return np.zeros(len(wanted), np.bool_)
    at = np.minimum(np.searchsorted(sorted_offsets, wanted), len(sorted_offsets) - 1)
    return np.asarray(sorted_offsets[at] == wanted)


class TruncationRefused(Exception):
    """A queue's last message cannot be corrected, because its first one does not lie before the log's new end."""


@dataclass(slots=True)
class _Added:
    """Units that dispatch puts, in the order in which it does: of one queue offset the last one counts."""

    queue_offset: list[Longs] = field(default_factory=list)
    physical_offset: list[Longs] = field(default_factory=list)
    _sorted: tuple[Longs, Longs] | None = None

    def add(self, queue_offset: Longs, physical_offset: Longs) -> None:
        self.queue_offset.append(queue_offset)
        self.physical_offset.append(physical_offset)
        self._sorted = None

    def sorted(self) -> tuple[Longs, Longs]:
        """Queue offsets, rising, each once, and their physical offsets."""
        if self._sorted is None:
            offsets, places = (np.concatenate([NONE, *each]) for each in (self.queue_offset, self.physical_offset))
            newest_first, at = np.unique(offsets[::-1], return_index=True)
            self._sorted = newest_first, places[::-1][at]
        return self._sorted

    def get(self, queue_offset: int) -> int | None:
        offsets, places = self.sorted()
        at = int(np.searchsorted(offsets, queue_offset))
        return int(places[at]) if at < len(offsets) and offsets[at] == queue_offset else None


@dataclass(slots=True)
class DatabaseQueue:
    """One queue of the database.

    Attributes:
        stored: what the database notes of it before the start; None for a queue of which it notes nothing.
        first, last: the queue's limits as they are noted now, None where they are not.
        log: the CommitLog, whose first byte decides which messages there still are.
    """

    topic: str
    queue_id: int
    table: QueueTable | None
    stored: QueueLimits | None
    log: FileList
    first: Limit | None = None
    last: Limit | None = None
    _added: _Added = field(default_factory=_Added)

    @property
    def min_queue_offset(self) -> int:
        """What the broker answers. RocksDBConsumeQueueOffsetTable#getMinCqOffset."""
        return self._first_message()[0]

    @property
    def max_queue_offset(self) -> int:
        """The next queue offset. RocksDBConsumeQueueStore#getMaxOffsetInQueue."""
        return 0 if self.last is None else to_long(self.last.queue_offset + 1)

    @property
    def max_physical_offset(self) -> int:
        """Where the last message starts; -1 without one."""
        return -1 if self.last is None else self.last.physical_offset

    def put(self, unit: QueueUnit) -> None:
        """The last message put becomes the queue's last, whatever its number is."""
        self._added.add(np.array([unit.queue_offset]), np.array([unit.physical_offset]))
        self.last = Limit(unit.physical_offset, unit.queue_offset)

    def put_many(self, units: Units, queue_offsets: Longs) -> None:
        """`put` for many units."""
        places = units["physical_offset"].astype(np.int64)
        self._added.add(queue_offsets.astype(np.int64), places)
        self.last = Limit(int(places[-1]), int(queue_offsets[-1]))

    def begin_at(self, queue_offset: int) -> None:
        """Leave it empty, its next message with this number. RocksDBConsumeQueue#initializeWithOffset @5.4.0."""
        self.first, self.last = Limit(0, queue_offset), Limit(0, queue_offset - 1)

    def physical_offset(self, queue_offset: int) -> int | None:
        """Where the record of a unit starts; None where there is no such unit."""
        added = self._added.get(queue_offset)
        if added is not None or self.table is None or self.stored is None:
            return added
        unit = self.table.unit_or_none(self.stored, queue_offset)
        return None if unit is None else unit["physical_offset"]

    def physical_offsets(self) -> Longs:
        """Where the records of all units from the first message to the last start, sorted.

        Memory: 16 bytes for each unit.
        """
        first, end = self.min_queue_offset, self.max_queue_offset
        offsets, places = self._added.sorted()
        inside = (offsets >= first) & (offsets < end)
        parts = [places[inside]]
        for units in self._stored_units(first, end - 1):
            again = held(offsets, units["queue_offset"].astype(np.int64))
            parts.append(units["physical_offset"][~again].astype(np.int64))
        return np.sort(np.concatenate(parts))

    def truncate(self, log_end: int) -> None:
        """Move the last message back before the log's end. #truncateDirtyOffset, #correctMaxCqOffset.

        The search ends where it meets a unit at `log_end` itself, so that it may leave out units before that one.

        Raises:
            TruncationRefused: the last message stays where it is.
        """
        if self.last is None or self.last.physical_offset < log_end:
            return
        first, noted = self._first_message()
        self.ask_first()
        if noted is None or noted.physical_offset > log_end:
            raise TruncationRefused
        found = self._search(first, self.last.queue_offset, log_end, least=False)
        if found is not None:
            self.last = found
        elif self.last.queue_offset != first:
            self.last = noted

    def ask_first(self) -> None:
        """Note the first message, as the broker does when it is asked for it.

        Where the search for it fails the last message is noted, although the old number is answered that time.
        #correctMinCqOffset, from the source alone.
        """
        answered, noted = self._first_message()
        if noted is None and self.last is not None and self.last.queue_offset != answered:
            noted = self.last
        self.first = noted or self.first

    def _first_message(self) -> tuple[int, Limit | None]:
        """The number that the broker answers, and the limit as it notes it then; None where it notes another one.

        Source: #isMinOffsetOk, #correctMinCqOffset.
        """
        log_min = self.log.min_offset
        if self.first is not None and self.first.physical_offset >= log_min:
            return self.first.queue_offset, self.first
        noted = 0 if self.first is None else self.first.queue_offset
        if self.last is None:
            return 0, Limit(log_min, 0)
        if self.last.physical_offset < log_min:
            return self.max_queue_offset, Limit(log_min, self.max_queue_offset)
        found = self._search(noted, self.last.queue_offset, log_min, least=True)
        return (noted, None) if found is None else (found.queue_offset, found)

    def _search(self, low: int, high: int, physical_offset: int, *, least: bool) -> Limit | None:
        """The first unit at or after a byte of the log, or the last before it; see `truncate` for one at that byte.

        Source: RocksDBConsumeQueueTable#binarySearchInCQ.
        """
        found = None
        while high >= low:
            middle = low + (high - low) // 2
            place = self.physical_offset(middle)
            if place is None:
                low = middle + 1
                continue
            found = Limit(place, middle) if least == (place >= physical_offset) else found
            if place == physical_offset:
                break
            low, high = (low, middle - 1) if place > physical_offset else (middle + 1, high)
        return found

    def _stored_units(self, first: int, last: int) -> Iterator[Units]:
        if self.table is not None and self.stored is not None and last >= first:
            yield from self.table.units(self.stored, first, last)


@dataclass(slots=True)
class QueueDatabase:
    """The database of a broker's queues.

    Attributes:
        queues: those that have a last message, and those that dispatch made.
        dispatched_to: the end of the last message put, as the database notes it; 0 in a new one.
        refused: queues whose last message a truncation could not correct.
        undecided: queues whose end is open: one thread gives them units and another one truncates, at the same time;
            before 5.3.2 also those of which it is unknown whether the broker has them.
        left_behind: queues that end after the log's end and that a truncation passes over.
    """

    table: QueueTable | None
    log: FileList
    queues: dict[QueueKey, DatabaseQueue] = field(default_factory=dict)
    dispatched_to: int = 0
    refused: list[QueueKey] = field(default_factory=list)
    undecided: list[QueueKey] = field(default_factory=list)
    left_behind: list[QueueKey] = field(default_factory=list)

    @classmethod
    def loaded(cls, table: QueueTable | None, log: FileList) -> Self:
        """What a broker holds of this database; None is a new one. RocksDBConsumeQueueStore#load."""
        database = cls(table, log)
        if table is not None:
            database.dispatched_to = table.dispatched_to or 0
            database.queues = {key: database._queue(*key) for key, noted in table.limits.items() if noted.last}
        return database

    def put(self, unit: QueueUnit) -> None:
        self.queue(unit.topic, unit.queue_id).put(unit)
        self.dispatched_to = unit.physical_offset + unit.msg_size

    def queue(self, topic: str, queue_id: int) -> DatabaseQueue:
        """`findOrCreateConsumeQueue`."""
        key = (topic, queue_id)
        if key not in self.queues:
            self.queues[key] = self._queue(topic, queue_id)
        return self.queues[key]

    def truncate(self, log_end: int, is_truncated: Callable[[QueueKey], bool | None]) -> None:
        """Move the limits back before the log's end; units after them stay. RocksDBConsumeQueueStore#truncateDirty.

        It looks at how far was dispatched: what is dispatched again before may leave queues that end after `log_end`.

        Args:
            is_truncated: whether the broker truncates a queue; None where that is unknown.
        """
        if log_end >= self.dispatched_to:
            return
        self.dispatched_to = log_end
        for key, queue in self.queues.items():
            if queue.max_physical_offset < log_end:
                continue
            comes = is_truncated(key)
            if not comes:
                (self.undecided if comes is None else self.left_behind).append(key)
                continue
            try:
                queue.truncate(log_end)
            except TruncationRefused:
                self.refused.append(key)

    def noted_behind(self, log_end: int) -> list[QueueKey]:
        """The queues whose last message was noted at or after a byte of the log before the start."""
        noted = {} if self.table is None else self.table.limits
        return [key for key, each in noted.items() if each.last is not None and each.last.physical_offset >= log_end]

    def destroy(self) -> None:
        """The folder is deleted, and a new database made in it."""
        self.table, self.dispatched_to, self.queues = None, 0, {}

    def _queue(self, topic: str, queue_id: int) -> DatabaseQueue:
        noted = None if self.table is None else self.table.limits.get((topic, queue_id))
        first, last = (None, None) if noted is None else (noted.first, noted.last)
        return DatabaseQueue(topic, queue_id, self.table, noted, self.log, first, last)
