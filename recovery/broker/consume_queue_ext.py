"""The ConsumeQueueExt of one queue as it is recovered, truncated and written again, in memory.

Source: ConsumeQueueExt#load, #recover, #truncateByMaxAddress, #truncateByMinAddress, #put @4.9.8, 5.3.3.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from parsers.consumequeue.ext import CQ_EXT_SIZE, CQ_EXT_UNIT, END_BLANK, END_OF_FILE, MOST_UNIT_BYTES
from parsers.consumequeue.layout import MAX_EXT_ADDRESS
from parsers.kernels.arrays import Bytes, Longs
from parsers.values.java import LONG_MIN, to_long
from recovery.broker.mapped_file_queue import FileList, LoadFailed, LogFile, file_name

UNIT_SIZE = CQ_EXT_UNIT.size


@dataclass(slots=True)
class ExtQueue:
    """The ext files of a queue with the broker's memory of them."""

    mapped: FileList
    finds_by_place: bool = False

    def recover(self) -> None:
        """Read every file up to its last unit, and end the ext queue there.

        Raises:
            LoadFailed: a unit that goes beyond its file.
        """
        if not self.mapped.files:
            return
        for file in self.mapped.files:
            used = _used(file)
        self.mapped.truncate_to(self.mapped.files[-1].base_offset + used)

    def truncate_after(self, address: int | None) -> None:
        """End after the unit at this address; where none is found nothing changes.

        Raises:
            LoadFailed: the unit goes beyond what is written.
        """
        if address is None:
            return
        place = to_long(address - LONG_MIN)
        size = self._size_at(place)
        if size is not None:
            self.mapped.truncate_to(place + size)

    def delete_before(self, address: int | None) -> None:
        """Delete the files that end before this address."""
        if address is None:
            return
        place = to_long(address - LONG_MIN)
        expired = [file for file in self.mapped.files if file.end_offset < place]
        self.mapped.deleted += expired
        self.mapped.files = [file for file in self.mapped.files if file.end_offset >= place]

    def put(self, tags_codes: Longs, store_timestamps_ms: Longs, bit_maps: Bytes) -> Longs:
        """Append a unit for each message; the addresses, or the tags codes themselves where no file has room.

        `bit_maps`: the bytes of each message's bit map, all of one width, which is 0 where none is calculated.
        """
        count, width = bit_maps.shape
        size = UNIT_SIZE + width
        units = np.zeros(count, np.dtype([*CQ_EXT_UNIT.dtype.descr, ("bit_map", np.uint8, (width,))]))
        units["unit_size"], units["tags_code"], units["bitmap_size"] = size, tags_codes, width
        units["store_timestamp_ms"], units["bit_map"] = store_timestamps_ms, bit_maps
        if size > min(MOST_UNIT_BYTES, self.mapped.file_size - END_BLANK):
            return tags_codes
        addresses = np.empty(count, np.int64)
        done = 0
        while done < count:
            file = self._open_file(size)
            start = file.wrote_position
            fits = min(count - done, (file.size - END_BLANK - start) // size)
            file.append(units[done : done + fits].tobytes())
            addresses[done : done + fits] = file.base_offset + start + size * np.arange(fits) + LONG_MIN
            done += fits
        return addresses

    def _open_file(self, unit_size: int) -> LogFile:
        """The newest file, or a new one after it where it has no room for a unit of that size."""
        files, size = self.mapped.files, self.mapped.file_size
        last = files[-1] if files else None
        if last is not None and last.wrote_position + unit_size <= size - END_BLANK:
            return last
        if last is not None and last.wrote_position < size:
            last.append(END_OF_FILE)
            last.wrote_position = size
        base = 0 if last is None else last.end_offset
        files.append(LogFile(file_name(base), base, size, 0))
        return files[-1]

    def _size_at(self, place: int) -> int | None:
        """The size of the unit that is read there, None where none is."""
        file = self.mapped.find(place, first_if_missing=place == 0, by_place=self.finds_by_place)
        into_file = place % self.mapped.file_size
        if file is None or into_file >= file.wrote_position:
            return None
        written = file.content(file.wrote_position)[into_file:]
        if len(written) < CQ_EXT_SIZE.size:
            return None
        size = CQ_EXT_SIZE.unpack(written)["unit_size"]
        if size < 1:
            return None
        bit_map_size = CQ_EXT_UNIT.unpack(written)["bitmap_size"] if len(written) >= UNIT_SIZE else 1
        if len(written) < UNIT_SIZE + max(bit_map_size, 0):
            raise _beyond(file, "#truncateByMaxAddress (BufferUnderflowException)")
        return size


def _used(file: LogFile) -> int:
    """Bytes up to the first size of 0 or less; runs of one size are passed at once."""
    content = file.content(file.size)
    data = np.frombuffer(content, np.uint8)
    at = 0
    while at + CQ_EXT_SIZE.size <= len(data):
        size = CQ_EXT_SIZE.unpack(content, at)["unit_size"]
        if size <= 0:
            return at
        if at + size > len(data):
            break
        units = data[at : at + (len(data) - at) // size * size].reshape(-1, size)[:, : CQ_EXT_SIZE.size]
        differs = (units != units[0]).any(axis=1)
        at += size * (int(np.argmax(differs)) if differs.any() else len(units))
    raise _beyond(file, "#recover (BufferUnderflowException or IllegalArgumentException)")


def _beyond(file: LogFile, method: str) -> LoadFailed:
    return LoadFailed(
        "the sizes in an ext file of a queue lead beyond its end: the broker does not load",
        f"ConsumeQueueExt{method}",
        f"{file.entry.path if file.entry else file.name}",
    )


def last_address(tags_codes: Longs) -> int | None:
    """The last of a queue's tags codes that is an ext address; None without one."""
    found = np.flatnonzero(tags_codes <= MAX_EXT_ADDRESS)
    return int(tags_codes[found[-1]]) if len(found) else None
