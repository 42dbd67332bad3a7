"""The search by time that fits a queue, and those of queues whose units hold the store times."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from parsers.consumequeue.batch import read_units, summarize_batch_queue
from parsers.damage.errors import StoreFormatError, unheard
from parsers.queues.queue import BatchQueue, DatabaseQueue, FileQueue, Queue
from parsers.store.store_file import StoreFile
from recovery.query.by_time.time_search import Boundary, QueueSearch, TimeSearch
from recovery.scan.log_access import LogAccess

NOT_FOUND = -1


def search_of(queue: Queue, log: LogAccess) -> QueueSearch:
    """The queue opened for searches by time. Raises TypeError for a queue of no known type."""
    if isinstance(queue, FileQueue):
        return TimeSearch(queue.files, log)
    if isinstance(queue, BatchQueue):
        return BatchTimeSearch(queue.files, log.min_physical_offset)
    if isinstance(queue, DatabaseQueue):
        return DatabaseTimeSearch(queue, log.min_physical_offset)
    raise TypeError(type(queue).__name__)


class BatchTimeSearch:
    """Searches by time in one BatchCQ queue, opened once for many questions.

    Source: BatchConsumeQueue#getOffsetInQueueByTime, #searchTimeFromCache, #binarySearchRight @5.3.3; before 5.1.1
    there is `lower` only.
    """

    def __init__(self, files: Sequence[StoreFile], commitlog_min: int) -> None:
        self._files = _opened(files)
        summary = summarize_batch_queue(files, commitlog_min=commitlog_min, damage=unheard)
        self.min_queue_offset, self.max_queue_offset = summary.min_queue_offset, summary.max_queue_offset
        firsts = sorted((int(units["store_timestamp_ms"][0]), number) for number, units in enumerate(self._files))
        self._first_times, self._numbers = [time for time, _ in firsts], [number for _, number in firsts]

    def nearest(self, at_ms: int) -> int:
        """Before 5.1.1: the search that is called `lower` since."""
        return self.bounded(at_ms, "lower")

    def bounded(self, at_ms: int, boundary: Boundary) -> int:
        """The first message of a record: the file's last one from its time on, else the first at or after `at_ms`.

        `upper` is where Java's other search ends: mostly nowhere, unless a record has that very time.
        """
        if not self._files:
            return NOT_FOUND
        units = self._file(at_ms)
        times = units["store_timestamp_ms"]
        unit = len(times) - 1 if at_ms >= times[-1] else _search(times, at_ms, boundary)
        return int(units["queue_offset"][unit]) if unit != NOT_FOUND else NOT_FOUND

    def _file(self, at_ms: int) -> npt.NDArray[np.void]:
        """The last file if it begins by then; else the one whose first time is the latest by then, else the first."""
        if self._files[-1]["store_timestamp_ms"][0] <= at_ms:
            return self._files[-1]
        by_then = bisect_right(self._first_times, at_ms)
        return self._files[self._numbers[by_then - 1] if by_then else 0]


def _search(times: npt.NDArray[np.int64], at_ms: int, boundary: Boundary) -> int:
    """`binarySearchRight`, counted in units."""
    left, right = 0, len(times) - 1
    while left <= right:
        middle = (left + right) // 2
        stored = int(times[middle])
        if middle == right:
            return middle if stored >= at_ms else NOT_FOUND
        if middle == left:
            if stored >= at_ms:
                return middle
            left = middle + 1
        elif boundary == "lower":
            left, right = (middle + 1, right) if stored < at_ms else (left, middle)
        else:
            left, right = (middle, right) if stored <= at_ms else (left, middle - 1)
    return NOT_FOUND


def _opened(files: Sequence[StoreFile]) -> list[npt.NDArray[np.void]]:
    """The units of each file that has any."""
    opened = []
    for number, file in enumerate(files, start=1):
        try:
            opened.append(read_units(file, ends_queue=number == len(files)))
        except StoreFormatError:
            continue
    return [units for units in opened if len(units)]


class DatabaseTimeSearch:
    """Searches by time in one queue of a database, opened once for many questions.

    Source: RocksDBConsumeQueueStore#getOffsetInQueueByTime, RocksDBConsumeQueueTable#binarySearchInCQByTime
    @5.3.3, 5.4.0.
    """

    def __init__(self, queue: DatabaseQueue, commitlog_min: int) -> None:
        self._queue, self._commitlog_min = queue, commitlog_min
        self.min_queue_offset, self.max_queue_offset = queue.ends(commitlog_min)

    def nearest(self, at_ms: int) -> int:
        """Databases came after the boundaries: the search that is called `lower`."""
        return self.bounded(at_ms, "lower")

    def bounded(self, at_ms: int, boundary: Boundary) -> int:
        """`lower`: the first message at or after that time, the queue's end if none is; -1 where only units below the
        log's start are before it. `upper`: the last one at or before it, 0 if none is."""
        floor, ceiling, lower = self.min_queue_offset, self.max_queue_offset - 1, boundary == "lower"
        if ceiling < 0:
            return 0
        last, first = self._time(ceiling), self._time(floor)
        if last is not None and last < at_ms:
            return ceiling + lower
        if first is not None and first > at_ms:
            return floor if lower else 0
        return self._search(at_ms, boundary, floor, ceiling)

    def _search(self, at_ms: int, boundary: Boundary, floor: int, ceiling: int) -> int:
        low, high, left, right = floor, ceiling, -1, -1
        while high >= low:
            middle = (low + high) // 2
            unit = self._queue.unit(middle)
            if unit is None:
                low = middle + 1
                continue
            if unit["physical_offset"] < self._commitlog_min:
                low, left = middle + 1, middle
                continue
            stored = unit["store_timestamp_ms"]
            if stored < 0:
                return 0
            if stored == at_ms:
                return self._last_alike(middle, at_ms, floor, ceiling, boundary)
            if stored > at_ms:
                high, right = middle - 1, middle
            else:
                low, left = middle + 1, middle
        return right if boundary == "lower" else left

    def _last_alike(self, found: int, at_ms: int, floor: int, ceiling: int, boundary: Boundary) -> int:
        """The neighbour furthest in the boundary's direction with the same store time."""
        step = -1 if boundary == "lower" else 1
        while floor <= found + step <= ceiling and self._time(found + step) == at_ms:
            found += step
        return found

    def _time(self, queue_offset: int) -> int | None:
        unit = self._queue.unit(queue_offset)
        return None if unit is None else unit["store_timestamp_ms"]
