"""Place many units in their queues at once: the compiled twin of `recovery.rebuild.queue_writer`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from parsers.consumequeue.batch import BATCH_UNIT
from parsers.consumequeue.layout import CQ_UNIT
from parsers.kernels.arrays import Bytes, Ints, Longs, Shorts
from parsers.kernels.bigendian import store_int, store_long
from parsers.kernels.kernel import kernel
from recovery.rebuild.queue_writer import MOST_OFFSET
from recovery.scan.kernel import RecordColumns, UnitColumns
from recovery.scan.queue_numbers import fill_slots, new_slots, queue_number

UNIT, BATCH = CQ_UNIT.size, BATCH_UNIT.size
SIZE_AT, TAGS_AT = CQ_UNIT.offsets["msg_size"], CQ_UNIT.offsets["tags_code"]
STORE_TIME_AT, BASE_AT = BATCH_UNIT.offsets["store_timestamp_ms"], BATCH_UNIT.offsets["queue_offset"]
COUNT_AT, COMPACT_AT, RESERVED_AT = (
    BATCH_UNIT.offsets[name] for name in ("message_count", "compact_offset", "reserved")
)
NO_FILE, NOT_PLACED = -1, -1


class QueueState(NamedTuple):
    """The writing ends of all queues, by queue number.

    `end` is the queue position after the last unit (NO_FILE: the queue has none), `first` the position of the first
    one; `opened` is where a file was created for a unit that was then skipped; `duplicate`, `behind`, `out_of_order`
    count what `Put` names.
    `slots` (a power of two) maps hashes of `key` (topic code and queue id) to queue numbers; `met[0]` is how many there
    are.
    """

    slots: Longs
    key: Longs
    is_batch: npt.NDArray[np.bool_]
    end: Longs
    first: Longs
    opened: Longs
    max_physical_offset: Longs
    duplicate: Longs
    behind: Longs
    out_of_order: Longs
    met: Longs


def new_state(capacity: int) -> QueueState:
    """Room for `capacity` queues, none of them met."""

    def longs(value: int) -> Longs:
        return np.full(capacity, value, np.int64)

    return QueueState(
        slots=new_slots(capacity),
        key=longs(0),
        is_batch=np.zeros(capacity, np.bool_),
        end=longs(NO_FILE),
        first=longs(NO_FILE),
        opened=longs(NO_FILE),
        max_physical_offset=longs(-1),
        duplicate=longs(0),
        behind=longs(0),
        out_of_order=longs(0),
        met=np.zeros(1, np.int64),
    )


@kernel
def number_queues(state: QueueState, topic: Ints, queue_id: Ints, message_count: Shorts, number: Ints, row: int) -> int:
    """The queue number of every unit of a classic queue from `row` on, NOT_PLACED for the others.

    Returns the row it came to: before the end when there is no room for another queue.
    """
    slots, keys, met = state.slots, state.key, state.met
    while row < len(number) and met[0] < len(keys):
        number[row] = NOT_PLACED
        if message_count[row] == 0:
            number[row] = queue_number(slots, keys, met, topic[row], queue_id[row])
        row += 1
    return row


@kernel
def fill_groups(number: Ints, starts: Longs, order: Longs) -> None:
    """Rows by number, in their own order within each; `starts` are moved to the groups' ends."""
    for row in range(len(number)):
        if number[row] >= 0:
            order[starts[number[row]]] = row
            starts[number[row]] += 1


@kernel
def place(
    state: QueueState, queue: int, file_size: int, physical_offset: int, msg_size: int, queue_offset: int
) -> bool:
    """Whether a unit is appended to a classic queue, by `QueueWriter.put`; moves `end` past it if so."""
    if physical_offset + msg_size <= state.max_physical_offset[queue]:
        state.duplicate[queue] += 1
        return False
    wanted = queue_offset * UNIT
    if state.end[queue] == NO_FILE:
        if queue_offset < 0 or queue_offset > MOST_OFFSET:
            state.behind[queue] += 1
            return False
        state.end[queue] = state.first[queue] = wanted
    if queue_offset != 0 and wanted < state.end[queue]:
        state.behind[queue] += 1
        if state.end[queue] % file_size == 0:
            state.opened[queue] = state.end[queue]
        return False
    if wanted != state.end[queue]:
        state.out_of_order[queue] += 1
    state.end[queue] += UNIT
    state.max_physical_offset[queue] = physical_offset + msg_size
    return True


@kernel
def place_batch(state: QueueState, queue: int, file_size: int, physical_offset: int) -> bool:
    """Whether a unit is appended to a BatchCQ; moves `end` past it if so.

    Source: BatchConsumeQueue#putBatchMessagePositionInfo @5.0.0 … 5.5.1.
    """
    if physical_offset <= state.max_physical_offset[queue]:
        state.duplicate[queue] += 1
        return False
    if state.end[queue] == NO_FILE:
        state.end[queue] = state.first[queue] = 0
    if state.end[queue] % file_size + BATCH > file_size:
        state.behind[queue] += 1
        return False
    state.end[queue] += BATCH
    state.max_physical_offset[queue] = physical_offset
    return True


@kernel
def place_units(
    state: QueueState, file_size: int, batch_file_size: int, records: RecordColumns, units: UnitColumns, queue: Ints
) -> None:
    """For every unit the number of the queue it is appended to, NOT_PLACED for those that are skipped."""
    for row in range(len(queue)):
        record, batch, met = units.record[row], units.message_count[row] > 0, state.met[0]
        number = queue_number(state.slots, state.key, state.met, units.topic[row], units.queue_id[row])
        if number == met:
            state.is_batch[number] = batch
        physical_offset = records.physical_offset[record]
        if batch:
            placed = place_batch(state, number, batch_file_size, physical_offset)
        else:
            size, queue_offset = records.total_size[record], units.queue_offset[row]
            placed = place(state, number, file_size, physical_offset, size, queue_offset)
        queue[row] = number if placed else NOT_PLACED


@kernel
def pack_units(
    state: QueueState, records: RecordColumns, units: UnitColumns, queue: Ints, starts: Longs, packed: Bytes
) -> None:
    """Write the placed units into `packed`, those of queue q from byte `starts[q]`; moves `starts` to their ends."""
    for row in range(len(queue)):
        number = queue[row]
        if number == NOT_PLACED:
            continue
        record, at = units.record[row], starts[number]
        store_long(packed, at, records.physical_offset[record])
        store_int(packed, at + SIZE_AT, records.total_size[record])
        store_long(packed, at + TAGS_AT, records.tags_code[record])
        if state.is_batch[number]:
            store_long(packed, at + STORE_TIME_AT, records.store_timestamp_ms[record])
            store_long(packed, at + BASE_AT, units.queue_offset[row])
            packed[at + COUNT_AT] = (units.message_count[row] >> 8) & 0xFF
            packed[at + COUNT_AT + 1] = units.message_count[row] & 0xFF
            store_int(packed, at + COMPACT_AT, -1)
            store_int(packed, at + RESERVED_AT, 0)
            starts[number] += BATCH
        else:
            starts[number] += UNIT


def larger(state: QueueState, capacity: int) -> QueueState:
    """Copy the state of all queues into one with room for more."""
    grown, met = new_state(capacity), int(state.met[0])
    for old, new in zip(state[1:-1], grown[1:-1], strict=True):
        new[:met] = old[:met]
    grown.met[0] = met
    fill_slots(grown.slots, grown.key, met)
    return grown
