"""The writing end of a BatchCQ, unit by unit: what the compiled one is held against."""

from __future__ import annotations

from dataclasses import dataclass

from parsers.consumequeue.batch import BATCH_UNIT
from recovery.rebuild.queue_writer import Put, Sink
from recovery.rules.dispatch import QueueUnit


@dataclass(slots=True)
class BatchQueueWriter:
    """The writing end of one BatchCQ: units follow one another, wherever their base offset is.

    `max_physical_offset` is the start of the last message put. Files need not hold whole units evenly: a unit that
    does not fit into the rest of a file is refused by the broker and is `behind` here.

    Source: BatchConsumeQueue#putBatchMessagePositionInfo @5.0.0 … 5.5.1.
    """

    file_size: int
    sink: Sink
    last_file: int | None = None
    wrote_position: int = 0
    max_physical_offset: int = -1
    next_queue_offset: int = 0

    def put(self, unit: QueueUnit) -> Put:
        if unit.physical_offset <= self.max_physical_offset:
            return "duplicate"
        if self.last_file is None:
            self.last_file = 0
        elif self.wrote_position == self.file_size:
            self.last_file, self.wrote_position = self.last_file + self.file_size, 0
        if self.wrote_position + BATCH_UNIT.size > self.file_size:
            return "behind"
        self.sink(self.last_file + self.wrote_position, BATCH_UNIT.pack(_batch_fields(unit)))
        self.wrote_position += BATCH_UNIT.size
        self.max_physical_offset = unit.physical_offset
        self.next_queue_offset = unit.queue_offset + unit.message_count
        return "appended"


def _batch_fields(unit: QueueUnit) -> dict[str, int]:
    return {
        "physical_offset": unit.physical_offset,
        "msg_size": unit.msg_size,
        "tags_code": unit.tags_code,
        "store_timestamp_ms": unit.store_timestamp_ms,
        "queue_offset": unit.queue_offset,
        "message_count": unit.message_count,
        "compact_offset": -1,
        "reserved": 0,
    }
