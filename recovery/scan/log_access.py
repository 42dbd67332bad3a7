"""Single records of a log by their physical offset, from maps opened once; and the store times of many at once."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from parsers.commitlog.compiled.shape import HOST_V6_MORE
from parsers.commitlog.record.layout import HEAD, HOST_V4, STORE_TIME, SYS_FLAG_BORN_HOST_V6
from parsers.commitlog.record.message import Message, decode_message
from parsers.damage.errors import StoreFormatError
from parsers.evidence.mapped import map_file, release_pages
from parsers.kernels.arrays import Longs
from parsers.store.store_file import StoreFile

NO_TIME = -1
UNKNOWN = -1
REACH = HEAD.size + HOST_V4.size + HOST_V6_MORE + STORE_TIME.size
"""Bytes from a record's start that are looked at."""


class LogAccess:
    """Random reads in a log. A file that cannot be opened, or is empty, is as good as not there."""

    def __init__(self, files: Sequence[StoreFile]) -> None:
        self._bases: list[int] = []
        self._buffers: list[memoryview] = []
        for file in files:
            try:
                buffer = map_file(file.path)
            except StoreFormatError:
                continue
            if len(buffer):
                self._bases.append(file.base_offset or 0)
                self._buffers.append(buffer)
        self.min_physical_offset = self._bases[0] if self._bases else 0
        self.missed: int | None = None
        """A place at or after the log's start that was asked for last, and that no file holds."""

    def place(self, physical_offset: int) -> tuple[memoryview, int] | None:
        """The file that holds this byte of the log, and the byte's position in it."""
        number = bisect_right(self._bases, physical_offset) - 1
        if number < 0 or physical_offset - self._bases[number] >= len(self._buffers[number]):
            self.missed = self.missed if number < 0 else physical_offset
            return None
        return self._buffers[number], physical_offset - self._bases[number]

    def message(self, physical_offset: int) -> Message | None:
        """The record that starts there; None where no well-formed record does."""
        found = self.place(physical_offset)
        if found is None:
            return None
        try:
            return decode_message(*found)
        except StoreFormatError:
            return None

    def store_timestamp_ms(self, physical_offset: int, msg_size: int) -> int:
        """`CommitLog#pickupStoreTimestamp`: what stands where the store time of a record there would; -1 if nothing."""
        found = self.place(physical_offset) if physical_offset >= self.min_physical_offset else None
        if found is None or msg_size < 0 or found[1] + msg_size > len(found[0]):
            return NO_TIME
        buffer, at = found
        if len(buffer) - at < HEAD.size + HOST_V4.size + HOST_V6_MORE + STORE_TIME.size:
            return NO_TIME
        more = HOST_V6_MORE if HEAD.unpack(buffer, at)["sys_flag"] & SYS_FLAG_BORN_HOST_V6 else 0
        return STORE_TIME.unpack(buffer, at + HEAD.size + HOST_V4.size + more)["store_timestamp_ms"]


class StoredTimes:
    """Gathers store times from maps opened once. A file that cannot be opened is as good as not there."""

    def __init__(self, files: Sequence[StoreFile]) -> None:
        self._files: list[tuple[int, npt.NDArray[np.uint8]]] = []
        for file in files:
            try:
                self._files.append((file.base_offset or 0, np.frombuffer(map_file(file.path), np.uint8)))
            except StoreFormatError:
                continue

    def at(self, physical_offset: Longs) -> Longs:
        """Store times, epoch ms, of the records that start there; -1 where none says that it stands there."""
        times = np.full(len(physical_offset), UNKNOWN, np.int64)
        for base, data in self._files:
            rows = np.flatnonzero((physical_offset >= base) & (physical_offset <= base + len(data) - REACH))
            places = physical_offset[rows] - base
            own = _longs(data, places + HEAD.offsets["physical_offset"]) == physical_offset[rows]
            rows, places = rows[own], places[own]
            is_v6 = data[places + HEAD.offsets["sys_flag"] + 3] & SYS_FLAG_BORN_HOST_V6 != 0
            times[rows] = _longs(data, places + HEAD.size + HOST_V4.size + is_v6 * HOST_V6_MORE)
            release_pages(data, 0, len(data))
        return times


def _longs(data: npt.NDArray[np.uint8], places: Longs) -> Longs:
    """The big-endian longs at these places."""
    gathered: Longs = data[places[:, None] + np.arange(8)].view(">i8")[:, 0].astype(np.int64)
    return gathered
