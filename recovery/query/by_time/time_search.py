"""The queue offset that a broker's search by time answers, by version, from the queue's files and the log.

Source: ConsumeQueue#getOffsetInQueueByTime, #binarySearchInQueueByTime, MappedFileQueue#getMappedFileByTime,
#getConsumeQueueMappedFileByTime @4.9.7, 5.3.3 (unchanged to 5.5.1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

from parsers.consumequeue.kernel import valid_prefix
from parsers.consumequeue.layout import CQ_UNIT
from parsers.consumequeue.read import units
from parsers.consumequeue.summary import summarize_queue
from parsers.damage.errors import StoreFormatError, unheard
from parsers.evidence.mapped import map_file
from parsers.store.store_file import StoreFile
from recovery.rules.versions import BrokerVersion
from recovery.scan.log_access import NO_TIME, LogAccess

Boundary = Literal["lower", "upper"]


@dataclass(frozen=True, slots=True)
class QueueFile:
    """One file of a queue as the search sees it: `written` counts its units up to the write position."""

    first_queue_offset: int
    units: npt.NDArray[np.void]
    written: int
    is_full: bool
    modified_ms: int


class QueueSearch(Protocol):
    """A queue opened for searches by time, of either type."""

    min_queue_offset: int
    max_queue_offset: int

    def nearest(self, at_ms: int) -> int:
        """What brokers without boundaries find; -1 for nothing."""

    def bounded(self, at_ms: int, boundary: Boundary) -> int:
        """What brokers with boundaries find; -1 for nothing."""


class TimeSearch:
    """Searches by time in one classic queue, opened once for many questions."""

    def __init__(self, files: Sequence[StoreFile], log: LogAccess) -> None:
        self._log = log
        self._files = _opened(files)
        summary = summarize_queue(files, commitlog_min=log.min_physical_offset, damage=unheard)
        self.min_queue_offset, self.max_queue_offset = summary.min_queue_offset, summary.max_queue_offset
        self._starts = [self._time(file, 0) for file in self._files]
        self._stops = [self._time(file, len(file.units) - 1) for file in self._files]

    def nearest(self, at_ms: int) -> int:
        """Before 5.1.1: a message of that very time, else the nearer of its neighbours, in one file.

        The file is the first one modified at or after that time: copying a store without its times changes the answer.
        """
        if not self._files:
            return 0
        file = next((file for file in self._files if file.modified_ms >= at_ms), self._files[-1])
        if not file.written:
            return 0
        low, high, left, right = self._low(file), file.written - 1, (-1, -1), (-1, -1)
        while high >= low:
            middle = (low + high) // 2
            if int(file.units["physical_offset"][middle]) < self._log.min_physical_offset:
                low, left = middle + 1, (middle, left[1])
                continue
            stored = self._time(file, middle)
            if stored < 0:
                return 0
            if stored == at_ms:
                return file.first_queue_offset + middle
            if stored > at_ms:
                high, right = middle - 1, (middle, stored)
            else:
                low, left = middle + 1, (middle, stored)
        return self._in_queue(file, _nearer(left, right, at_ms))

    def bounded(self, at_ms: int, boundary: Boundary) -> int:
        """Since 5.1.1. `lower`: the first message at or after that time, the queue's end if none is.
        `upper`: the last one at or before it, 0 if none is."""
        file = self._file_by_content(at_ms, boundary)
        if file is None or not file.written:
            return 0
        low, ceiling, lower = self._low(file), file.written - 1, boundary == "lower"
        if self._time(file, ceiling) < at_ms:
            return file.first_queue_offset + ceiling + lower
        if self._time(file, low) > at_ms:
            return file.first_queue_offset if lower else 0
        floor, high, left, right = low, ceiling, -1, -1
        while high >= low:
            middle = (low + high) // 2
            if int(file.units["physical_offset"][middle]) < self._log.min_physical_offset:
                low, left = middle + 1, middle
                continue
            stored = self._time(file, middle)
            if stored < 0:
                return 0
            if stored == at_ms:
                return file.first_queue_offset + self._last_alike(file, middle, at_ms, floor, ceiling, boundary)
            if stored > at_ms:
                high, right = middle - 1, middle
            else:
                low, left = middle + 1, middle
        return self._in_queue(file, right if lower else left)

    def _last_alike(self, file: QueueFile, found: int, at_ms: int, floor: int, ceiling: int, boundary: Boundary) -> int:
        """The neighbour furthest in the boundary's direction with the same store time."""
        step = -1 if boundary == "lower" else 1
        while floor <= found + step <= ceiling and self._time(file, found + step) == at_ms:
            found += step
        return found

    def _file_by_content(self, at_ms: int, boundary: Boundary) -> QueueFile | None:
        if boundary == "lower":
            pairs = zip(self._files[:-1], self._stops, strict=False)
            return next((file for file, stop in pairs if stop >= at_ms), self._files[-1] if self._files else None)
        newest_first = zip(reversed(self._files), reversed(self._starts), strict=True)
        return next((file for file, start in newest_first if start <= at_ms), None)

    def _low(self, file: QueueFile) -> int:
        return max(0, self.min_queue_offset - file.first_queue_offset)

    def _time(self, file: QueueFile, unit: int) -> int:
        if not 0 <= unit < len(file.units):
            return NO_TIME
        physical_offset, msg_size, _ = file.units[unit].item()
        return self._log.store_timestamp_ms(physical_offset, msg_size)

    @staticmethod
    def _in_queue(file: QueueFile, unit: int) -> int:
        """Java's sum of the file's base and -1 when nothing was found: one byte less, so the unit before the file."""
        return file.first_queue_offset + unit if unit >= 0 else max(0, file.first_queue_offset - 1)


def offset_at(search: QueueSearch, at_ms: int, version: BrokerVersion, boundary: Boundary = "lower") -> int:
    """What this version answers; before 5.1.1 there is no boundary."""
    found = search.bounded(at_ms, boundary) if version.searches_time_by_boundary else search.nearest(at_ms)
    if not version.keeps_time_search_in_queue:
        return found
    return min(max(found, search.min_queue_offset), search.max_queue_offset)


def _nearer(left: tuple[int, int], right: tuple[int, int], at_ms: int) -> int:
    """The unit nearer to an instant, of (unit, store time) on both sides; time -1 where a side has none."""
    if left[1] == -1:
        return right[0]
    if right[1] == -1:
        return left[0]
    return right[0] if abs(at_ms - left[1]) > abs(at_ms - right[1]) else left[0]


def _opened(files: Sequence[StoreFile]) -> list[QueueFile]:
    opened: list[QueueFile] = []
    for number, file in enumerate(files):
        try:
            view = units(file)
        except StoreFormatError:
            continue
        last = number == len(files) - 1
        written = valid_prefix(np.frombuffer(map_file(file.path), np.uint8)) if last else len(view)
        first = (file.base_offset or 0) // CQ_UNIT.size
        opened.append(QueueFile(first, view, written, written == len(view), file.mtime_ns // 1_000_000))
    return opened
