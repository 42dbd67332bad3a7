"""One compiled pass over records for those of a few topics, and for the copies that a broker made of them elsewhere."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from parsers.commitlog.compiled.shape import (
    AT_BODY_CRC,
    AT_BORN_HOST,
    AT_BORN_TIMESTAMP,
    AT_QUEUE_ID,
    AT_QUEUE_OFFSET,
    AT_SYS_FLAG,
    HOST_V6_MORE,
    V4_HOST_SIZE,
    own_offset,
    shape_of,
)
from parsers.commitlog.record.layout import HOST_V4, HOST_V6, SYS_FLAG_BORN_HOST_V6, SYS_FLAG_TRANSACTION, TAIL
from parsers.kernels.arrays import Bytes, Ints, LongRows, Longs
from parsers.kernels.bigendian import load_int, load_long
from parsers.kernels.kernel import kernel
from parsers.kernels.utf8 import copy_repaired
from recovery.scan.kernel import plain_number, store_time_of
from recovery.scan.property_spans import ENTRY_END, NAME_VALUE, same
from recovery.scan.topic_table import ABSENT, TopicArrays, look_up, name_hash

REAL_TOPIC, ID = 0, 1
"""Places of the two names that every story asks for; its own follow."""
NUMBER, HASH, HASH_BEFORE_PLUS, HASH_BEHIND_PLUS, ID_OFFSET = 0, 1, 2, 3, 4
"""What is kept of a property: the number it is, a hash of it, hashes of what stands before its first `+` (NONE without
one) and after it (all of it without one), the physical offset in the message id it is."""
NONE = -1
PLUS = 0x2B
OFFSET_DIGITS = 16
MESSAGE_ID_V4, MESSAGE_ID_V6 = 2 * HOST_V4.size + OFFSET_DIGITS, 2 * HOST_V6.size + OFFSET_DIGITS
"""Hex digits of a message id: host and physical offset (MessageDecoder#createMessageId)."""
AT_RECONSUME = TAIL.offsets["reconsume_times"] - TAIL.size
AT_PREPARED = TAIL.offsets["prepared_transaction_offset"] - TAIL.size
"""From where the body starts."""


class Names(NamedTuple):
    """Property names that are looked for: name n is `text[ends[n] : ends[n + 1]]`, kept as `kinds[n]` says."""

    text: Bytes
    ends: Longs
    kinds: Longs


class Wanted(NamedTuple):
    """Which records are kept, and what is looked for in them.

    `kept_topics`: by topic code, whether all records of the topic are; `triggers`: the numbers of the names whose
    properties keep a record of another topic; `transactions`: records with a transaction type are kept, too. `span` is
    room for where the values of the names are in one record.
    """

    kept_topics: Longs
    names: Names
    triggers: Longs
    transactions: bool
    span: Longs


class HeldColumns(NamedTuple):
    """One row per record that is kept. Topics are codes; `real_topic`, and each row of `own`, is NONE without one.

    `message`: a hash of the id that names the message; without one of its birth (time and host) and its body's CRC.
    `transaction`: the transaction bits of the sysFlag. `own`: a row for each property of the story's own.
    """

    physical_offset: Longs
    store_timestamp_ms: Longs
    queue_offset: Longs
    message: Longs
    prepared_transaction_offset: Longs
    queue_id: Ints
    topic: Ints
    real_topic: Ints
    reconsume_times: Ints
    transaction: Ints
    own: LongRows


@kernel
def find_values(data: Bytes, at: int, end: int, names: Names, span: Longs) -> None:
    """Where the value of each name is, as (start, end) pairs in `span`; NONE without one, the last of several."""
    text, ends, _ = names
    for cell in range(len(span)):
        span[cell] = NONE
    while at < end:
        stop = at
        while stop < end and data[stop] != ENTRY_END:
            stop += 1
        for name in range(len(ends) - 1):
            value = at + ends[name + 1] - ends[name] + 1
            is_value = value < stop and data[value - 1] == NAME_VALUE
            if is_value and same(data, at, stop, text[ends[name] : ends[name + 1]]):
                span[2 * name], span[2 * name + 1] = value, stop
        at = stop + 1


@kernel
def birth_hash(data: Bytes, at: int, sys_flag: int) -> int:
    """A hash of when and where a message was born and of its body: what every copy of it keeps."""
    host_end = at + AT_BORN_HOST + V4_HOST_SIZE + (HOST_V6_MORE if sys_flag & SYS_FLAG_BORN_HOST_V6 else 0)
    return name_hash(data, at + AT_BORN_TIMESTAMP, host_end) ^ (load_int(data, at + AT_BODY_CRC) & 0xFFFFFFFF)


@kernel
def kept_value(data: Bytes, start: int, end: int, kind: int) -> int:
    """What is kept of a value, NONE without one."""
    if start < 0:
        return NONE
    if kind == NUMBER:
        return plain_number(data, start, end)
    if kind in (HASH_BEFORE_PLUS, HASH_BEHIND_PLUS):
        plus = start
        while plus < end and data[plus] != PLUS:
            plus += 1
        if kind == HASH_BEFORE_PLUS:
            return name_hash(data, start, plus) if plus < end else NONE
        start = plus + 1 if plus < end else start
    if kind == ID_OFFSET:
        is_id = end - start in (MESSAGE_ID_V4, MESSAGE_ID_V6)
        return hex_number(data, end - OFFSET_DIGITS, end) if is_id else NONE
    return name_hash(data, start, end)


@kernel
def hex_number(data: Bytes, start: int, end: int) -> int:
    """The number of hex digits, NONE for anything else and for one of 64 bits."""
    value = 0
    for at in range(start, end):
        digit = int(np.int64(data[at]))
        if 0x30 <= digit <= 0x39:
            digit -= 0x30
        elif 0x41 <= digit <= 0x46 or 0x61 <= digit <= 0x66:
            digit = (digit & 0xF) + 9
        else:
            return NONE
        if value >> 59:
            return NONE
        value = value * 16 + digit
    return value


@kernel
def has_any(span: Longs, names: Longs) -> bool:
    """Whether a record has one of these names."""
    found = False
    for name in names:
        found |= span[2 * name] >= 0
    return found


@kernel
def hold_records(
    data: Bytes, positions: Longs, row: int, topics: TopicArrays, wanted: Wanted, held: HeldColumns, used: int
) -> tuple[int, int, int, int]:
    """Fill `held` from row `used` on with the wanted records of `positions[row:]`.

    Returns (row, rows kept, span of a name that is no code yet); the row before the end where there is such a name.
    """
    slots, text, ends = topics.slots, topics.names, topics.ends
    kept_topics, names, triggers, transactions, span = wanted
    while row < len(positions):
        at = positions[row]
        _, body_at, _, topic_at, topic_size, properties_at, properties_size = shape_of(data, at)
        topic = look_up(slots, text, ends, data, topic_at, topic_at + topic_size)
        if topic < 0:
            return row, used, topic_at, topic_at + topic_size
        find_values(data, properties_at, properties_at + properties_size, names, span)
        real_topic = ABSENT
        if span[2 * REAL_TOPIC] >= 0:
            start, end = span[2 * REAL_TOPIC], span[2 * REAL_TOPIC + 1]
            real_topic = look_up(slots, text, ends, data, start, end)
            if real_topic < 0:
                return row, used, start, end
        sys_flag = load_int(data, at + AT_SYS_FLAG)
        transaction = sys_flag & SYS_FLAG_TRANSACTION
        if kept_topics[topic] or has_any(span, triggers) or (transactions and transaction != 0):
            held.physical_offset[used] = own_offset(data, at)
            held.store_timestamp_ms[used] = store_time_of(data, at, sys_flag)
            held.queue_offset[used] = load_long(data, at + AT_QUEUE_OFFSET)
            held.queue_id[used] = load_int(data, at + AT_QUEUE_ID)
            held.topic[used], held.real_topic[used] = topic, real_topic
            held.reconsume_times[used] = load_int(data, body_at + AT_RECONSUME)
            held.prepared_transaction_offset[used] = load_long(data, body_at + AT_PREPARED)
            held.transaction[used] = transaction
            if span[2 * ID] >= 0:
                held.message[used] = name_hash(data, span[2 * ID], span[2 * ID + 1])
            else:
                held.message[used] = birth_hash(data, at, sys_flag)
            for own in range(len(held.own)):
                name = ID + 1 + own
                held.own[own, used] = kept_value(data, span[2 * name], span[2 * name + 1], names.kinds[name])
            used += 1
        row += 1
    return row, used, 0, 0


@kernel
def value_sizes(data: Bytes, positions: Longs, names: Names, span: Longs, starts: Longs, sizes: Longs) -> None:
    """Where the value of the first name is in each record, and its bytes; size NONE without one."""
    for row in range(len(positions)):
        _, _, _, _, _, properties_at, properties_size = shape_of(data, positions[row])
        find_values(data, properties_at, properties_at + properties_size, names, span)
        starts[row], sizes[row] = span[0], span[1] - span[0] if span[0] >= 0 else NONE


@kernel
def body_sizes(data: Bytes, positions: Longs, starts: Longs, sizes: Longs) -> None:
    """Where the body is in each record, and its bytes."""
    for row in range(len(positions)):
        _, starts[row], sizes[row], _, _, _, _ = shape_of(data, positions[row])


@kernel
def put_values(data: Bytes, starts: Longs, sizes: Longs, text: Bytes, ends: Ints) -> None:
    """Gather values as valid UTF-8; `text` has room for three times their bytes and 64 more."""
    to = 0
    for row in range(len(starts)):
        if sizes[row] > 0:
            to = copy_repaired(text, to, data, starts[row], sizes[row])
        ends[row + 1] = to
