"""Compiled passes over ConsumeQueue units: where the written part ends, and units to columns.

Source: rocketmq-all-5.3.3, store/ConsumeQueue.java#recover (validity), #fillPreBlank.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from parsers.consumequeue.layout import CQ_UNIT, MAX_EXT_ADDRESS
from parsers.kernels.bigendian import load_int, load_long
from parsers.kernels.kernel import kernel
from parsers.values.java import INT_MAX

Bytes: TypeAlias = npt.NDArray[np.uint8]
Longs: TypeAlias = npt.NDArray[np.int64]
Ints: TypeAlias = npt.NDArray[np.int32]
Codes: TypeAlias = npt.NDArray[np.int8]

UNIT_SIZE = CQ_UNIT.size
SIZE_AT = CQ_UNIT.offsets["msg_size"]
TAGS_AT = CQ_UNIT.offsets["tags_code"]
MAX_EXT, MAX_INT = MAX_EXT_ADDRESS, INT_MAX


class UnitColumns(NamedTuple):
    """Room for one row per unit. `kind` and `tags_kind`: places in UNIT_KINDS and TAGS_CODE_KINDS."""

    queue_offset: Longs
    physical_offset: Longs
    msg_size: Ints
    tags_code: Longs
    kind: Codes
    tags_kind: Codes


@kernel
def valid_prefix(data: Bytes) -> int:
    """The first unit that ConsumeQueue#recover would not accept."""
    count = len(data) // UNIT_SIZE
    unit = 0
    while unit < count:
        at = unit * UNIT_SIZE
        if load_long(data, at) < 0 or load_int(data, at + SIZE_AT) <= 0:
            break
        unit += 1
    return unit


@kernel
def decode_units(data: Bytes, first_queue_offset: int, scheduled: bool, units: UnitColumns) -> int:
    """Fill the columns from whole units, leaving out those that are not valid; returns the rows filled."""
    queue_offset, physical_offset, msg_size, tags_code, kind, tags_kind = units
    row = 0
    for unit in range(len(data) // UNIT_SIZE):
        at = unit * UNIT_SIZE
        place = load_long(data, at)
        size = load_int(data, at + SIZE_AT)
        tags = load_long(data, at + TAGS_AT)
        queue_offset[row] = first_queue_offset + unit
        physical_offset[row] = place
        msg_size[row] = size
        tags_code[row] = tags
        kind[row] = np.int8((place == 0) & (size == MAX_INT) & (tags == 0))
        tags_kind[row] = np.int8(2 if tags <= MAX_EXT else (1 if scheduled and tags > MAX_INT else 0))
        row += int((place >= 0) & (size > 0))
    return row


@kernel
def count_units(data: Bytes) -> tuple[int, int, int]:
    """(messages, pre-blanks, CommitLog byte after the last message or -1) of the valid units."""
    messages, blanks, end = 0, 0, -1
    for unit in range(len(data) // UNIT_SIZE):
        at = unit * UNIT_SIZE
        place, size = load_long(data, at), load_int(data, at + SIZE_AT)
        if place < 0 or size <= 0:
            continue
        if place == 0 and size == MAX_INT and load_long(data, at + TAGS_AT) == 0:
            blanks += 1
        else:
            messages += 1
            end = place + size
    return messages, blanks, end


@kernel
def first_live_unit(data: Bytes, commitlog_min: int) -> int:
    """The first message whose record is not below the CommitLog's minimum, pre-blanks passed over; -1 without one."""
    for unit in range(len(data) // UNIT_SIZE):
        at = unit * UNIT_SIZE
        place, size = load_long(data, at), load_int(data, at + SIZE_AT)
        blank = place == 0 and size == MAX_INT and load_long(data, at + TAGS_AT) == 0
        if place >= commitlog_min and size > 0 and not blank:
            return unit
    return -1
