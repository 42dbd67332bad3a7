"""Where a unit lands in a queue's files: duplicates, pre-blanks, rolling, order errors, as the broker's classes do it.

`QueueWriter` decides and hands every run of bytes to a sink, so that the same rules write real files, an overlay in
memory, or nothing at all. Scalar reference of `recovery/rebuild/queue_kernel.py`.
Source: ConsumeQueue#putMessagePositionInfo, #fillPreBlank, MappedFileQueue#getLastMappedFile, #tryCreateMappedFile
@4.4.0 … 5.5.1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from parsers.consumequeue.layout import CQ_UNIT, PRE_BLANK
from parsers.values.java import LONG_MAX, divide, to_long
from recovery.rules.dispatch import QueueUnit

MOST_OFFSET = LONG_MAX // CQ_UNIT.size

Sink = Callable[[int, bytes], None]
"""Takes (queue position of the first byte: file base + position in the file, bytes); never crosses a file's end."""

Put = Literal["appended", "duplicate", "behind", "out_of_order"]
"""What became of a unit; `out_of_order` was appended all the same, at the queue's end instead of its own place."""


@dataclass(slots=True)
class QueueWriter:
    """The writing end of one classic queue.

    Attributes:
        file_size: bytes of each file, a multiple of 20.
        last_file: base of the newest file, None when the queue has none.
        wrote_position: bytes written in the newest file.
        max_physical_offset: end of the last message put (start of it with `max_is_message_end` False: ≤ 4.4.0).
        skips_repeated: a unit whose place lies before the end is left out (until 4.1.0: appended at the end).
        passes_lost_writes: a unit before the newest file's first byte moves the write position on (since 5.3.4: not).
        fresh: the newest file was created as the queue's first one since the broker started (pre-blank applies).
        first_queue_offset: where the queue starts after a pre-blank or at its first file, None while it has no file.
    """

    file_size: int
    sink: Sink
    last_file: int | None = None
    wrote_position: int = 0
    max_physical_offset: int = -1
    max_is_message_end: bool = True
    passes_lost_writes: bool = True
    skips_repeated: bool = True
    fresh: bool = False
    first_queue_offset: int | None = None

    @property
    def end_position(self) -> int:
        """Queue position after the last unit; 0 when the queue has no file."""
        return 0 if self.last_file is None else self.last_file + self.wrote_position

    def put(self, unit: QueueUnit) -> Put:
        reached = unit.physical_offset + (unit.msg_size if self.max_is_message_end else 0)
        if reached <= self.max_physical_offset:
            return "duplicate"
        if self.last_file is None and not 0 <= unit.queue_offset <= MOST_OFFSET:
            return "behind"  # damaged: beyond it Java's product wraps, and no broker gets so far
        wanted = to_long(unit.queue_offset * CQ_UNIT.size)
        base = self._file_for(wanted)
        if self.fresh and unit.queue_offset != 0 and self.wrote_position == 0:
            self._fill_pre_blank(base, wanted)
        order = "appended" if unit.queue_offset == 0 else self._order(wanted)
        if order == "behind":
            return order
        self.max_physical_offset = reached
        if not self._has_room:
            return "behind"
        self._append(base, CQ_UNIT.pack(_classic_fields(unit)))
        return order

    @property
    def _has_room(self) -> bool:
        """False where MappedFile#appendMessage fails: beyond the file's end, or before its first byte."""
        before_first_byte = self.wrote_position < 0 and not self.passes_lost_writes
        return not before_first_byte and self.wrote_position + CQ_UNIT.size <= self.file_size

    def _order(self, wanted: int) -> Put:
        if wanted < self.end_position and self.skips_repeated:
            return "behind"
        return "appended" if wanted == self.end_position else "out_of_order"

    def _file_for(self, wanted: int) -> int:
        if self.last_file is None:
            self.last_file, self.wrote_position, self.fresh = wanted - wanted % self.file_size, 0, True
            self.first_queue_offset = wanted // CQ_UNIT.size
        elif self.wrote_position == self.file_size:
            self.last_file, self.wrote_position, self.fresh = self.last_file + self.file_size, 0, False
        return self.last_file

    def _fill_pre_blank(self, base: int, wanted: int) -> None:
        into_file = wanted - divide(wanted, self.file_size) * self.file_size
        blanks = -(-into_file // CQ_UNIT.size)
        if blanks > 0:
            self._append(base, CQ_UNIT.pack(PRE_BLANK) * blanks)
        self.first_queue_offset = wanted // CQ_UNIT.size

    def _append(self, base: int, data: bytes) -> None:
        self.sink(base + self.wrote_position, data)
        self.wrote_position += len(data)


def _classic_fields(unit: QueueUnit) -> dict[str, int]:
    return {"physical_offset": unit.physical_offset, "msg_size": unit.msg_size, "tags_code": unit.tags_code}
