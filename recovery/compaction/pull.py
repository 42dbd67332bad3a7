"""What a consumer of a compacted topic is given: pulls go to the copy, not to the ordinary queue."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from parsers.compaction.sparse_queue import NO_UNITS, FileUnits, SparseQueue
from parsers.consumequeue.batch import Units, valid_units


class PullStatus(StrEnum):
    """GetMessageStatus, as far as a compacted queue answers with it."""

    FOUND = "FOUND"
    NO_MESSAGE_IN_QUEUE = "NO_MESSAGE_IN_QUEUE"
    OFFSET_OVERFLOW_ONE = "OFFSET_OVERFLOW_ONE"
    OFFSET_OVERFLOW_BADLY = "OFFSET_OVERFLOW_BADLY"
    OFFSET_FOUND_NULL = "OFFSET_FOUND_NULL"
    NO_MATCHED_MESSAGE = "NO_MATCHED_MESSAGE"


@dataclass(frozen=True, slots=True)
class Pull:
    """The answer to a pull at one offset.

    `first_queue_offset` is the first message of a FOUND answer; `next_queue_offset` is where any other sends the
    consumer, None where that hangs on the sizes of files and settings. A slave leaves the consumer where it is.
    """

    status: PullStatus
    first_queue_offset: int | None = None
    next_queue_offset: int | None = None


def pull(queue: SparseQueue, queue_offset: int) -> Pull:
    """What a pull at this offset begins with: the first message from there on that passes have left.

    Below the minimum it begins with the queue's first message: no answer says that an offset is too small.
    Source: store/kv/CompactionLog.java#getMessage, SparseConsumeQueue#getBatchMsgIndexOrNextBuffer @5.3.3.
    """
    least, most = queue.min_queue_offset, queue.max_queue_offset
    if most == 0:
        return Pull(PullStatus.NO_MESSAGE_IN_QUEUE, next_queue_offset=0)
    if queue_offset == most:
        return Pull(PullStatus.OFFSET_OVERFLOW_ONE, next_queue_offset=queue_offset)
    if queue_offset > most:
        return Pull(PullStatus.OFFSET_OVERFLOW_BADLY, next_queue_offset=least if least == 0 else most)
    held = _file_of(queue, queue_offset)
    first = NO_UNITS if held is None else _first_from(held.units, queue_offset)
    if not len(first):
        return Pull(PullStatus.OFFSET_FOUND_NULL)
    if not valid_units(first).all():  # the consumer asks for the same offset again, for ever
        return Pull(PullStatus.NO_MATCHED_MESSAGE, next_queue_offset=queue_offset)
    return Pull(PullStatus.FOUND, first_queue_offset=int(first[0]["queue_offset"]))


def units_from(queue: SparseQueue, queue_offset: int) -> Iterator[FileUnits]:
    """The units that pulls from this offset on go through, file by file; none where the first pull finds nothing."""
    first = pull(queue, queue_offset).first_queue_offset
    for held in queue.files if first is not None else ():
        units = held.valid
        from_there = units[units["queue_offset"] >= first]
        if len(from_there):
            yield FileUnits(held.file, from_there)


def _file_of(queue: SparseQueue, queue_offset: int) -> FileUnits | None:
    """SparseConsumeQueue#searchOffsetFromFilesOrRight: from the last file to the first."""
    if queue_offset <= queue.min_queue_offset:
        return queue.files[0]
    for number in range(len(queue.files) - 1, -1, -1):
        units = queue.files[number].units
        if not len(units):
            continue
        least, most = int(units[0]["queue_offset"]), int(units[-1]["queue_offset"])
        if most < queue_offset and number != len(queue.files) - 1:
            return queue.files[number + 1]
        if least <= queue_offset <= most:
            return queue.files[number]
    return None


def _first_from(units: Units, queue_offset: int) -> Units:
    """The first unit of this queue offset or a later one; none without it."""
    place = int(np.searchsorted(units["queue_offset"].astype(np.int64), queue_offset))
    return units[place : place + 1]
