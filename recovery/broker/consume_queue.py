"""One ConsumeQueue as it is recovered, truncated, corrected and written again, in memory.

Source: ConsumeQueue#recover, #truncateDirtyLogicFiles, #correctMinOffset, #putMessagePositionInfo
@4.9.8, 5.3.1, 5.3.3, 5.5.1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from parsers.consumequeue.layout import CQ_UNIT
from parsers.values.java import divide, to_int, to_long
from recovery.broker.consume_queue_ext import ExtQueue, last_address
from recovery.broker.mapped_file_queue import FileList, LoadFailed, LogFile, file_name
from recovery.query.queue_minimum import scan_minimum, search_minimum
from recovery.rebuild.queue_writer import Put, QueueWriter
from recovery.rules.dispatch import QueueUnit
from recovery.rules.versions import BrokerVersion

Units = npt.NDArray[np.void]
FILES_RECOVERED = 3


class Hang(Exception):
    """The broker would stay in this method for ever."""


@dataclass(slots=True)
class Queue:
    """A queue with the broker's memory of it.

    Attributes:
        max_physical_offset: end of the last message of the queue, -1 for a queue without units.
        min_position: `minLogicOffset`, queue position of the first unit whose message exists.
        ext: its ext units, where the broker writes some (enableConsumeQueueExt).
    """

    topic: str
    queue_id: int
    mapped: FileList
    version: BrokerVersion
    max_physical_offset: int = -1
    min_position: int = 0
    ext: ExtQueue | None = None
    unit: ClassVar = CQ_UNIT
    folder: ClassVar[Literal["consumequeue"]] = "consumequeue"
    _writer: QueueWriter | None = None

    @property
    def min_queue_offset(self) -> int:
        return divide(self.min_position, CQ_UNIT.size)

    @property
    def max_queue_offset(self) -> int:
        """The next queue offset: (base of the last file + its write position) / 20."""
        return divide(self.mapped.max_offset, CQ_UNIT.size)

    def recover(self) -> None:
        """Read the last three files up to the first unit that is not valid, and end the queue there.

        Raises:
            LoadFailed: ext units that lead beyond their file.
        """
        files = self.mapped.files
        if not files:
            return
        address: int | None = None
        for number in range(max(0, len(files) - FILES_RECOVERED), len(files)):
            file = files[number]
            units = self._units(file)
            valid = self._leading(units, (units["physical_offset"] >= 0) & (units["msg_size"] > 0))
            if valid:
                self._remember_end_of(units[valid - 1])
                found = last_address(units["tags_code"][:valid])
                address = address if found is None else found
            if valid * CQ_UNIT.size != self.mapped.file_size:
                break
        self.mapped.truncate_to(file.base_offset + valid * CQ_UNIT.size)
        if self.ext is not None:
            self.ext.recover()
            self.ext.truncate_after(address)

    def truncate_to_log(self, log_end: int) -> None:
        """Drop the units of messages that start at or after `log_end`.

        The first unit of a file is taken without a look at its size, so that an all-zero file keeps one unit. Ext units
        stay, for the loop returns before it gets to them, but in a queue with files of one unit each that all go: its
        ext units are cut after that of the first of the units that were before `log_end`.

        Raises:
            Hang: files of one unit each: the loop finds no end.
            LoadFailed: an ext unit that leads beyond its file.
        """
        address: int | None = None
        self._writer = None
        self.max_physical_offset = log_end if self.version.queue_max_is_message_end else log_end - 1
        deleted_one = False
        while self.mapped.files:
            file = self.mapped.files[-1]
            units = self._units(file)
            if units["physical_offset"][0] >= log_end:
                self.mapped.delete_last()
                deleted_one = True
                continue
            accepted = (units["physical_offset"] >= 0) & (units["msg_size"] > 0) & (units["physical_offset"] < log_end)
            accepted[0] = True
            count = self._leading(units, accepted)
            file.wrote_position = count * CQ_UNIT.size
            self._remember_end_of(units[count - 1])
            if len(units) > 1:
                return
            found = last_address(units["tags_code"])
            address = address if found is None else found
            if not (deleted_one and self.version.truncation_goes_on_deleting):
                raise Hang(
                    "ConsumeQueue#truncateDirtyLogicFiles: a queue file of one unit is looked at again and again"
                )
            self.mapped.delete_last()
        if self.ext is not None:
            self.ext.truncate_after(address)

    def correct_min(self, log_min: int) -> None:
        """Move the minimum to the first unit whose message is still in the log.

        Raises:
            LoadFailed: 5.0.0 to before 5.5.0, when the last file holds no unit.
        """
        if not self.version.searches_minimum_from_the_end:
            self._correct_min_by_scan(log_min)
            return
        files = self.mapped.files
        if not files and self.version.resets_empty_queue:
            self.min_position, self.max_physical_offset = 0, -1
            return
        end = self.mapped.max_offset
        if not files or self.min_position > end or (self.min_position == end and not self.version.resets_empty_queue):
            return
        last_offset = self._last_unit_offset(files[-1])
        if last_offset is not None and last_offset < log_min:
            self.min_position = end
            return
        self._correct_min_by_search(files[0], log_min)

    def _correct_min_by_scan(self, log_min: int) -> None:
        if not self.mapped.files or self.mapped.files[0].wrote_position <= 0:
            return
        first = self.mapped.files[0]
        found = scan_minimum(self._written(first)["physical_offset"], log_min)
        if found is not None:
            self._begin_at(first, found)

    def _last_unit_offset(self, last: LogFile) -> int | None:
        if last.wrote_position >= CQ_UNIT.size:
            return int(self._written(last)["physical_offset"][-1])
        if self.version.passes_empty_last_file:
            return None
        raise LoadFailed(
            "the newest file of a queue holds no unit: the minimum is looked up before its first byte",
            "ConsumeQueue#correctMinOffset (IllegalArgumentException: newPosition < 0)",
            f"{self.topic}/{self.queue_id}/{last.name}",
        )

    def _correct_min_by_search(self, first: LogFile, log_min: int) -> None:
        start = self.min_position - first.base_offset
        intact = start >= 0
        start = max(start, 0)
        if start >= first.wrote_position:
            return
        offsets = self._written(first)["physical_offset"][start // CQ_UNIT.size :]
        if intact and offsets[0] >= log_min:
            return
        found = search_minimum(offsets, log_min)
        if found is not None:
            self._begin_at(first, start // CQ_UNIT.size + found)

    def _begin_at(self, first: LogFile, slot: int) -> None:
        """The minimum is this unit of the first file; ext files that end before its ext unit go."""
        self.min_position = first.base_offset + slot * CQ_UNIT.size
        if self.ext is not None:
            self.ext.delete_before(last_address(self._written(first)["tags_code"][slot : slot + 1]))

    def with_address(self, unit: QueueUnit, bit_map: bytes) -> QueueUnit:
        """The unit as it is put, with the address of the ext unit that the broker writes first, whatever follows."""
        if self.ext is None:
            return unit
        bits, time = np.frombuffer(bit_map, np.uint8).reshape(1, -1), np.array([unit.store_timestamp_ms])
        (address,) = self.ext.put(np.array([unit.tags_code]), time, bits).tolist()
        return replace(unit, tags_code=address)

    def put(self, unit: QueueUnit) -> Put:
        """Write one unit where the broker would; a pre-blank moves the minimum."""
        writer = self._open_writer()
        starts = writer.last_file is None or (writer.fresh and writer.wrote_position == 0)
        if self._reached(unit) > self.max_physical_offset:
            wanted = to_long(unit.queue_offset * CQ_UNIT.size)
            self._make_first_file(writer, wanted)
            if starts and unit.queue_offset != 0:
                self.min_position = wanted
        outcome = writer.put(unit)
        if outcome != "duplicate":
            self._create_file(writer.last_file)
        self.max_physical_offset = writer.max_physical_offset
        return outcome

    def new_file_for(self, unit: QueueUnit) -> str | None:
        """The name of the file that has to be made before this unit can be put, None when there is room for it."""
        writer = self._open_writer()
        if self._reached(unit) <= self.max_physical_offset:
            return None
        size = self.mapped.file_size
        if writer.last_file is None:
            return file_name(divide(to_long(unit.queue_offset * CQ_UNIT.size), size) * size)
        return file_name(writer.last_file + size) if writer.wrote_position == size else None

    def _reached(self, unit: QueueUnit) -> int:
        return unit.physical_offset + (unit.msg_size if self.version.queue_max_is_message_end else 0)

    def _make_first_file(self, writer: QueueWriter, wanted: int) -> None:
        """Java's division: a negative queue offset makes a file too, and nothing is written into it."""
        if writer.last_file is None:
            writer.last_file = divide(wanted, self.mapped.file_size) * self.mapped.file_size
            writer.wrote_position, writer.fresh = 0, True

    def put_many(self, units: Units, queue_offsets: npt.NDArray[np.int64]) -> None:
        """`put` for many units of one message each; those that follow one another go in at once."""
        starts = units["physical_offset"].astype(np.int64)
        ends = starts + units["msg_size"] if self.version.queue_max_is_message_end else starts
        rising = bool((np.diff(ends) > 0).all())
        at = int(np.searchsorted(ends, self.max_physical_offset, side="right")) if rising else 0
        while at < len(units):
            run = self._append_run(units[at:], queue_offsets[at:]) if rising else 0
            if run == 0:
                self._put_row(units[at], int(queue_offsets[at]))
            at += max(run, 1)

    def _append_run(self, units: Units, queue_offsets: npt.NDArray[np.int64]) -> int:
        """Append the leading units that fit the newest file and come in their own place; returns how many."""
        writer = self._open_writer()
        starts = writer.last_file is None or (writer.fresh and writer.wrote_position == 0)
        if starts or writer.wrote_position < 0 or writer.end_position % CQ_UNIT.size:
            return 0
        room = (writer.file_size - writer.wrote_position) // CQ_UNIT.size
        wanted = np.arange(min(room, len(units))) + writer.end_position // CQ_UNIT.size
        in_place = queue_offsets[: len(wanted)] == wanted
        run = self._leading(units[: len(wanted)], in_place) if len(wanted) else 0
        if run:
            self.mapped.files[-1].append(units[:run].tobytes())
            writer.wrote_position = self.mapped.files[-1].wrote_position
            self._remember_end_of(units[run - 1])
        return run

    def _put_row(self, unit: np.void, queue_offset: int) -> None:
        physical_offset, msg_size, tags_code = (int(unit[name]) for name in CQ_UNIT.offsets)
        self.put(QueueUnit(self.topic, self.queue_id, queue_offset, physical_offset, msg_size, tags_code))

    def destroy(self) -> None:
        self.mapped.delete_all()
        if self.ext is not None:
            self.ext.mapped.delete_all()
        self._writer, self.max_physical_offset, self.min_position = None, -1, 0

    def physical_offset(self, queue_offset: int) -> int | None:
        """Where the record of a unit starts; None where there is no such unit."""
        file = self.mapped.find(queue_offset * CQ_UNIT.size)
        at = 0 if file is None else queue_offset * CQ_UNIT.size - file.base_offset
        if file is None or at + CQ_UNIT.size > file.wrote_position:
            return None
        return CQ_UNIT.unpack(file.content(file.wrote_position), at)["physical_offset"]

    def _open_writer(self) -> QueueWriter:
        if self._writer is None:
            last = self.mapped.files[-1] if self.mapped.files else None
            self._writer = QueueWriter(
                file_size=self.mapped.file_size,
                sink=self._write,
                last_file=None if last is None else last.base_offset,
                wrote_position=0 if last is None else last.wrote_position,
                max_is_message_end=self.version.queue_max_is_message_end,
                passes_lost_writes=self.version.passes_lost_writes,
                skips_repeated=self.version.skips_repeated_units,
            )
        self._writer.max_physical_offset = self.max_physical_offset
        return self._writer

    def _create_file(self, base: int | None) -> LogFile:
        """The writer's newest file; it may have made one and written nothing (a unit that came too late)."""
        files = self.mapped.files
        if base is not None and (not files or files[-1].base_offset != base):
            files.append(LogFile(file_name(base), base, self.mapped.file_size, 0))
        return files[-1]

    def _write(self, position: int, data: bytes) -> None:
        assert self._writer is not None, "units are written through the writer only"
        self._create_file(self._writer.last_file).append(data)

    def _units(self, file: LogFile) -> Units:
        return CQ_UNIT.array(file.content(file.size))

    def _written(self, file: LogFile) -> Units:
        return CQ_UNIT.array(file.content(file.wrote_position))

    def _remember_end_of(self, unit: np.void) -> None:
        start, size = int(unit["physical_offset"]), to_int(int(unit["msg_size"]))
        self.max_physical_offset = to_long(start + size) if self.version.queue_max_is_message_end else start

    @staticmethod
    def _leading(units: Units, accepted: npt.NDArray[np.bool_]) -> int:
        """How many units from the first one on are accepted without a gap."""
        return len(units) if accepted.all() else int(np.argmin(accepted))
