"""The queue offset that a broker's search by time answers in a queue of a database, whose units hold the store times.

Source: RocksDBConsumeQueueStore#getOffsetInQueueByTime, RocksDBConsumeQueueTable#binarySearchInCQByTime @5.3.3, 5.4.0.
"""

from __future__ import annotations

from parsers.queues.queue import DatabaseQueue
from recovery.query.by_time.time_search import Boundary


class DatabaseTimeSearch:
    """Searches by time in one queue of a database, opened once for many questions."""

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
