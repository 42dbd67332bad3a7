"""Compiled passes of the timer checks: what stands in the log where a unit points, and the chains that units form."""

from __future__ import annotations

import numpy as np

from parsers.commitlog.compiled.shape import HOST_V6_MORE
from parsers.commitlog.record.layout import (
    HEAD,
    HOST_V4,
    MAGIC_V1,
    MAGIC_V2,
    STORE_TIME,
    SYS_FLAG_BORN_HOST_V6,
    SYS_FLAG_STORE_HOST_V6,
    TAIL,
)
from parsers.kernels.arrays import Bytes, LongRows, Longs
from parsers.kernels.bigendian import load_int, load_long
from parsers.kernels.kernel import kernel
from parsers.values.topics import TIMER_TOPIC
from recovery.scan.property_spans import ENTRY_END, NAME_VALUE, same

RIGHT, NO_RECORD, OTHER_TOPIC, OTHER_SIZE, OTHER_TIME, BEYOND = range(6)
"""What stands where a unit points; BEYOND is the log's end."""
TOPIC = np.frombuffer(TIMER_TOPIC.encode(), np.uint8)
DUE_NAME = np.frombuffer(b"TIMER_OUT_MS", np.uint8)
MAGIC_AT, OFFSET_AT, FLAG_AT = (HEAD.offsets[name] for name in ("magic_code", "physical_offset", "sys_flag"))
TO_TAIL = HEAD.size + 2 * HOST_V4.size + STORE_TIME.size
BODY_SIZE_AT = TAIL.offsets["body_size"]
TAIL_SIZE = TAIL.size
SHORT, BYTE_BITS = 2, 8
DIGIT_0, DIGIT_9 = ord("0"), ord("9")
NO_TIME = -1
NONE, EXPIRED, BROKEN = -1, -2, -3
"""What stands before a unit in its slot: nothing, one in a deleted file, or no unit."""


@kernel
def judge_records(data: Bytes, base: int, wanted: LongRows, verdicts: Longs) -> None:
    """For each row of `wanted` (physical offset, size, due time, whether it rolls) what stands there.

    `data` is the log's file that starts at `base`. A unit that rolls is due before the message is.
    """
    for row in range(len(wanted)):
        at, size, due_ms = wanted[row, 0] - base, wanted[row, 1], wanted[row, 2]
        topic_at, topic_end = topic_of(data, at, base)
        if topic_at < 0:
            verdicts[row] = NO_RECORD
        elif topic_end - topic_at != len(TOPIC) or not same(data, topic_at, topic_end, TOPIC):
            verdicts[row] = OTHER_TOPIC
        elif load_int(data, at) != size:
            verdicts[row] = OTHER_SIZE
        else:
            told_ms = due_of(data, topic_end + SHORT, at + size)
            is_other = due_ms > told_ms if wanted[row, 3] else due_ms != told_ms
            verdicts[row] = OTHER_TIME if told_ms != NO_TIME and is_other else RIGHT


@kernel
def due_of_records(data: Bytes, base: int, places: Longs, due_ms: Longs) -> None:
    """When the timer message at each of these places is due; NO_TIME where there is none.

    `data` is the log's file that starts at `base`.
    """
    for row in range(len(places)):
        at = places[row] - base
        topic_at, topic_end = topic_of(data, at, base)
        due_ms[row] = NO_TIME
        if topic_at >= 0 and topic_end - topic_at == len(TOPIC) and same(data, topic_at, topic_end, TOPIC):
            due_ms[row] = due_of(data, topic_end + SHORT, at + load_int(data, at))


@kernel
def topic_of(data: Bytes, at: int, base: int) -> tuple[int, int]:
    """Where the topic of the record at `at` starts and ends; -1 where no record starts."""
    if at < 0 or at + TO_TAIL + TAIL_SIZE > len(data):
        return -1, -1
    size, magic, flag = load_int(data, at), load_int(data, at + MAGIC_AT), load_int(data, at + FLAG_AT)
    end = at + size
    if (magic not in (MAGIC_V1, MAGIC_V2)) or load_long(data, at + OFFSET_AT) != at + base or end > len(data):
        return -1, -1
    tail = at + TO_TAIL
    if flag & SYS_FLAG_BORN_HOST_V6:
        tail += HOST_V6_MORE
    if flag & SYS_FLAG_STORE_HOST_V6:
        tail += HOST_V6_MORE
    if tail + TAIL_SIZE > end:
        return -1, -1
    topic = tail + TAIL_SIZE + max(0, load_int(data, tail + BODY_SIZE_AT))
    if topic + SHORT > end:
        return -1, -1
    length = int(data[topic])
    topic += 1
    if magic == MAGIC_V2:
        length = length << BYTE_BITS | int(data[topic])
        topic += 1
    if topic + length + SHORT > end:
        return -1, -1
    return topic, topic + length


@kernel
def due_of(data: Bytes, at: int, end: int) -> int:
    """The number that the property TIMER_OUT_MS holds; NO_TIME where it holds none."""
    found = NO_TIME
    while at < end:
        stop = at
        while stop < end and data[stop] != ENTRY_END:
            stop += 1
        value = at + len(DUE_NAME) + 1
        if value < stop and same(data, at, stop, DUE_NAME) and data[value - 1] == NAME_VALUE:
            found = 0
            for digit in range(value, min(stop, value + 18)):
                if not DIGIT_0 <= data[digit] <= DIGIT_9:
                    return NO_TIME
                found = found * 10 + data[digit] - DIGIT_0
        at = stop + 1
    return found


@kernel
def walk_chains(before: Longs, steps: Longs, first: Longs, counts: Longs) -> None:
    """Fill in, for each unit, the row of its chain's first unit (or EXPIRED, BROKEN), and the timers up to it.

    `before`: the row of the unit before it in the slot, NONE, EXPIRED or BROKEN; rows rise. `steps`: 1 for a timer, -1
    for a unit that deletes one.
    """
    for row in range(len(before)):
        previous = before[row]
        first[row] = row if previous == NONE else previous if previous < 0 else first[previous]
        counts[row] = steps[row] if previous < 0 else counts[previous] + steps[row]
