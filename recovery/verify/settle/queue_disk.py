"""Where the units of the queues lie: file by file, mapped only while they are looked at."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from parsers.consumequeue.layout import CQ_UNIT
from parsers.damage.errors import StoreFormatError
from parsers.evidence.extents import data_end
from parsers.evidence.mapped import map_file, read_at, release_pages
from parsers.kernels.arrays import Bytes
from parsers.kernels.written import written_bytes
from parsers.store.store_file import QueueKey, StoreFile
from parsers.values.java import LONG_MAX, LONG_MIN
from recovery.verify.settle.settle_kernel import QueueCursors

UNIT = CQ_UNIT.size
MOST_OPEN = 1 << 14
RELEASED_AFTER = 1 << 20
"""Settled units after which the pages of windows are given back: what is read of them at once stays small."""


class FileUnits(NamedTuple):
    """Units of one file: `units` of them from queue offset `first` on, after `before` others."""

    path: Path
    first: int
    units: int
    before: int = 0

    @property
    def end(self) -> int:
        return self.first + self.units

    def bytes(self) -> Bytes:
        """The file from its first unit on, mapped; no units of it where the system refuses it by now."""
        try:
            return np.frombuffer(map_file(self.path), np.uint8)[self.before * UNIT :]
        except StoreFormatError:
            return np.empty(0, np.uint8)

    def pointer(self, queue_offset: int) -> tuple[int, int] | None:
        """Where the message of one unit starts, and its size: read, not mapped, since one of each queue is asked for.

        None where the system refuses the file by now, or it has become shorter.
        """
        try:
            told = read_at(self.path, (self.before + queue_offset - self.first) * UNIT, UNIT)
        except (OSError, ValueError):
            return None
        if len(told) < UNIT:
            return None
        unit = CQ_UNIT.unpack(told)
        return unit["physical_offset"], unit["msg_size"]


@dataclass(frozen=True, slots=True)
class QueueOnDisk:
    """The units of one queue up to the last one that is written; files that are refused have none.

    `in_order`: every queue offset is in one file at most, and files rise.
    """

    files: tuple[FileUnits, ...] = ()

    @classmethod
    def of(cls, files: Sequence[StoreFile], file_size: int) -> QueueOnDisk:
        """`files` in offset order; those that start where no file of the queue can start are left out."""
        found = [FileUnits(file.path, (file.base_offset or 0) // UNIT, 0) for file in on_grid(files, file_size)]
        counted: list[FileUnits] = []
        for number in range(len(found) - 1, -1, -1):
            count = _units(found[number], is_last=number == len(found) - 1, ends_queue=not counted)
            if count:
                counted.append(found[number]._replace(units=count))
        return cls(tuple(reversed(counted)))

    @property
    def in_order(self) -> bool:
        return all(before.end <= after.first for before, after in zip(self.files, self.files[1:], strict=False))

    @property
    def end(self) -> int:
        """The queue offset after the last unit written; 0 without one."""
        return self.files[-1].end if self.files else 0

    def around(self, queue_offset: int) -> tuple[FileUnits | None, int, int]:
        """The file that has a unit, None without one, and the first and last queue offset of which that is so."""
        number = bisect_right(self.files, queue_offset, key=lambda units: units.first) - 1
        if number >= 0 and queue_offset < self.files[number].end:
            found = self.files[number]
            return found, found.first, found.end - 1
        first = self.files[number].end if number >= 0 else LONG_MIN
        return None, first, self.files[number + 1].first - 1 if number + 1 < len(self.files) else LONG_MAX

    def pointer(self, queue_offset: int) -> tuple[int, int] | None:
        """Where the message of a unit starts, and its size; None where no file has the unit, or has it any more."""
        for units in self.files:
            if units.first <= queue_offset < units.end:
                return units.pointer(queue_offset)
        return None


def _units(units: FileUnits, *, is_last: bool, ends_queue: bool) -> int:
    """Whole units of a file; of the one that ends the queue those up to the last that is written."""
    data = units.bytes()
    count = len(data) // UNIT
    if not ends_queue:
        return count
    behind = data_end(units.path, len(data)) if is_last and count else len(data)
    return -(-written_bytes(data[: min(behind, count * UNIT)]) // UNIT)


def on_grid(files: Sequence[StoreFile], file_size: int) -> list[StoreFile]:
    """The files that start where a file of the queue can start, counted from its first one."""
    first = files[0].base_offset or 0 if files else 0
    return [file for file in files if ((file.base_offset or 0) - first) % file_size == 0]


@dataclass(slots=True)
class QueueWindows:
    """Maps the file that a queue's next units are in, for `settle_units`, which reads it by address."""

    queues: Mapping[QueueKey, QueueOnDisk]
    settles: bool = True
    _open: dict[int, tuple[Bytes, int]] = field(default_factory=dict)
    _since: int = 0

    def move(self, cursors: QueueCursors, number: int, key: QueueKey, queue_offset: int) -> None:
        """Set the window of a queue so that the queue offset is in it."""
        if len(self._open) >= MOST_OPEN:
            self.close(cursors)
        queue = self.queues.get(key, QueueOnDisk())
        self._open.pop(number, None)
        if not self.settles or not queue.in_order:
            units, first, last = None, LONG_MIN, LONG_MAX
        else:
            units, first, last = queue.around(queue_offset)
        cursors.window_at[number], cursors.window_first[number], cursors.window_last[number] = 0, first, last
        if units is not None:
            data = units.bytes()
            if len(data) >= units.units * UNIT:
                cursors.window_at[number] = data.ctypes.data
                self._open[number] = data, first

    def count(self, cursors: QueueCursors, units: int) -> None:
        """Give the pages of settled units back, after many of them."""
        self._since += units
        if self._since < RELEASED_AFTER:
            return
        self._since = 0
        for number, (data, first) in self._open.items():
            release_pages(data, 0, max(0, int(cursors.following[number]) - first) * UNIT)

    def close(self, cursors: QueueCursors) -> None:
        """Close all windows; a unit that is met later opens its own again."""
        cursors.window_at[:], cursors.window_first[:], cursors.window_last[:] = 0, LONG_MAX, LONG_MIN
        self._open.clear()
        self._since = 0
