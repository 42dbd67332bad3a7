"""One BatchConsumeQueue as it is recovered, truncated, corrected and written again, in memory.

Source: BatchConsumeQueue#recover, #truncateDirtyLogicFiles, #correctMinOffset, #reviseMaxAndMinOffsetInQueue,
#putBatchMessagePositionInfo @5.3.1, 5.3.3, 5.5.1.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from parsers.consumequeue.batch import BATCH_UNIT, valid_units
from parsers.values.java import remainder, to_long
from recovery.broker.consume_queue import FILES_RECOVERED, Hang
from recovery.broker.mapped_file_queue import FileList, LogFile, file_name
from recovery.rules.dispatch import QueueUnit

Units = npt.NDArray[np.void]


@dataclass(slots=True)
class BatchQueue:
    """A queue of batches with the broker's memory of it.

    Attributes:
        max_physical_offset: where the last record of the queue starts, -1 for a queue without units.
        min_queue_offset: -1 for a queue without files, as Java has it.
        min_position: `minLogicOffset`, where its first file begins.
    """

    topic: str
    queue_id: int
    mapped: FileList
    max_physical_offset: int = -1
    min_queue_offset: int = -1
    max_queue_offset: int = 0
    min_position: int = 0

    unit: ClassVar = BATCH_UNIT
    folder: ClassVar[Literal["batchconsumequeue"]] = "batchconsumequeue"
    ext: ClassVar = None

    def recover(self) -> None:
        """Read the last three files up to the first unit that is not valid, and end the queue there."""
        files = self.mapped.files
        if not files:
            return
        for file in files[-FILES_RECOVERED:]:
            units = self._units(file)
            valid = _leading(valid_units(units))
            if valid:
                self.max_physical_offset = int(units["physical_offset"][valid - 1])
            if valid * BATCH_UNIT.size != self.mapped.file_size:
                break
        self.mapped.truncate_to(file.base_offset + valid * BATCH_UNIT.size)
        self._revise()

    def truncate_to_log(self, log_end: int) -> None:
        """Drop the units of records that start at or after `log_end`; a file's first unit is taken whatever it holds.

        Raises Hang: files of one unit each: the loop finds no end.
        """
        self.max_physical_offset = log_end - 1
        while self.mapped.files:
            file = self.mapped.files[-1]
            units = self._units(file)
            if units["physical_offset"][0] >= log_end:
                self.mapped.delete_last()
                continue
            accepted = valid_units(units) & (units["physical_offset"] < log_end)
            accepted[0] = True
            count = _leading(accepted)
            file.wrote_position = count * BATCH_UNIT.size
            self.max_physical_offset = int(units["physical_offset"][count - 1])
            if len(units) == 1:
                raise Hang("BatchConsumeQueue#truncateDirtyLogicFiles: a file of one unit is looked at again and again")
            break
        self._revise()

    def correct_min(self, log_min: int) -> None:
        """Move the minimum behind the first file's leading units of records before `log_min`."""
        self._revise_min()
        if self.mapped.files:
            units = self._written(self.mapped.files[0])
            expired = _leading(units["physical_offset"] < log_min)
            if expired:
                self.min_queue_offset = _end(units[expired - 1])

    def put(self, unit: QueueUnit) -> None:
        """Append one unit, unless the queue counts its record as there already."""
        if unit.physical_offset <= self.max_physical_offset:
            return
        files, size = self.mapped.files, self.mapped.file_size
        is_first = not files
        if is_first or files[-1].wrote_position == size:
            base = self.mapped.max_offset - (remainder(self.mapped.max_offset, size) if is_first else 0)
            files.append(LogFile(file_name(base), base, size, 0))
        files[-1].append(BATCH_UNIT.pack({**asdict(unit), "compact_offset": -1, "reserved": 0}))
        self.max_physical_offset = unit.physical_offset
        self.max_queue_offset = to_long(unit.queue_offset + unit.message_count)
        if is_first and self.min_queue_offset == -1:
            self._revise_min()

    def destroy(self) -> None:
        self.mapped.delete_all()
        self.max_physical_offset, self.min_queue_offset, self.max_queue_offset = -1, -1, 0

    def physical_offset(self, queue_offset: int) -> int | None:
        """Where the record of this message starts, None without a unit for it."""
        for file in self.mapped.files:
            units = self._written(file)
            first = units["queue_offset"].astype(np.int64)
            found = np.flatnonzero((first <= queue_offset) & (queue_offset < first + units["message_count"]))
            if len(found):
                return int(units["physical_offset"][found[0]])
        return None

    def _revise(self) -> None:
        self._revise_min()
        last = next((file for file in self.mapped.files[:-3:-1] if file.wrote_position >= BATCH_UNIT.size), None)
        self.max_queue_offset = 0 if last is None else _end(self._written(last)[-1])

    def _revise_min(self) -> None:
        if not self.mapped.files:
            self.max_queue_offset, self.min_queue_offset, self.min_position = 0, -1, -1
            return
        first = self.mapped.files[0]
        self.min_position = first.base_offset
        units = self._written(first)
        self.min_queue_offset = int(units["queue_offset"][0]) if len(units) else -1

    def _units(self, file: LogFile) -> Units:
        return BATCH_UNIT.array(file.content(file.size))

    def _written(self, file: LogFile) -> Units:
        return BATCH_UNIT.array(file.content(file.wrote_position))


def _leading(accepted: npt.NDArray[np.bool_]) -> int:
    """How many units from the first one on are accepted without a gap."""
    return len(accepted) if accepted.all() else int(np.argmin(accepted))


def _end(unit: np.void) -> int:
    """The queue offset behind a unit's messages."""
    return to_long(int(unit["queue_offset"]) + int(unit["message_count"]))
