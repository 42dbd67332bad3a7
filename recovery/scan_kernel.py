"""One compiled pass over the records of a log: each record's queue units and index hashes, by the rules of `dispatch`.

Whatever a record holds that is rare (text that is not UTF-8, a DELAY or a list of offsets that is no plain number) ends
the pass with ODD at its row: the caller asks `dispatch` for that row and goes on. Both stand under the same tests.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from parsers.commitlog.layout import HOST_V4, SYS_FLAG_BORN_HOST_V6, SYS_FLAG_TRANSACTION
from parsers.commitlog.property_scan import separator_masks
from parsers.commitlog.shape import (
    AT_BORN_HOST,
    AT_QUEUE_ID,
    AT_QUEUE_OFFSET,
    AT_SYS_FLAG,
    HOST_V6_MORE,
    own_offset,
    shape_of,
)
from parsers.kernels.bigendian import load_int, load_long
from parsers.kernels.blocks import BLOCK, lowest_bit
from parsers.kernels.java_hash import MALFORMED, hash_utf8, index_hash
from parsers.numba_cache import cached_njit
from recovery.dispatch import COMMIT, ROLLBACK
from recovery.topic_table import IS_BATCH, IS_LMQ, IS_SCHEDULE, MAY_MULTI_DISPATCH, TopicArrays, look_up

Bytes = npt.NDArray[np.uint8]
Shorts = npt.NDArray[np.int16]
Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]

DONE, NEW_TOPIC, FULL, ODD = 0, 1, 2, 3
PLAIN, INVALID = 0, 1

STORE_TIME_AT_V4 = AT_BORN_HOST + HOST_V4.size
NAME_VALUE, ENTRY_END, SPACE, COMMA, SLASH, ZERO, NINE = 1, 2, 0x20, 0x2C, 0x2F, 0x30, 0x39
UNIQ_KEY, KEYS, TAGS, DELAY, INNER_NUM, INNER_BASE, MULTI_DISPATCH, MULTI_OFFSETS = range(8)
KEYS_WORD, TAGS_WORD = int.from_bytes(b"KEYS", "big"), int.from_bytes(b"TAGS", "big")
DELA_WORD, LETTER_Y = int.from_bytes(b"DELA", "big"), ord("Y")
UNIQ_KEY_WORD = int.from_bytes(b"UNIQ_KEY", "big")
INNER_NUM_NAME, INNER_BASE_NAME = (np.frombuffer(name, np.uint8) for name in (b"INNER_NUM", b"INNER_BASE"))
MULTI_DISPATCH_NAME = np.frombuffer(b"INNER_MULTI_DISPATCH", np.uint8)
MULTI_OFFSETS_NAME = np.frombuffer(b"INNER_MULTI_QUEUE_OFFSET", np.uint8)
MAX_DIGITS = 18
WORD = 8


class RecordColumns(NamedTuple):
    """One row per record, in log order; its keys are the rows from `first_key[row]` to before `first_key[row + 1]`."""

    file_pos: Longs
    physical_offset: Longs
    total_size: Ints
    sys_flag: Ints
    store_timestamp_ms: Longs
    topic: Ints
    queue_id: Ints
    queue_offset: Longs
    tags_code: Longs
    state: npt.NDArray[np.int8]
    first_key: Longs


class UnitColumns(NamedTuple):
    """One row per queue unit: `record` is the row it comes from; `message_count` is 0 in a classic queue."""

    record: Longs
    topic: Ints
    queue_id: Ints
    queue_offset: Longs
    message_count: Shorts


class ScanOptions(NamedTuple):
    delay_ms: Longs
    index_enabled: bool
    index_tags: bool
    split_values: bool


@cached_njit(nogil=True)
def find_spans(data: Bytes, at: int, end: int, split_values: bool, span: Longs) -> None:
    """Where the values of the names above are, as (start, end) pairs; -1 without one, the last of several.

    `split_values`: up to 4.9.0 an entry whose value holds 0x01 does not count.
    """
    span[:] = -1
    start, name_end, block = at, -1, at
    while block < end:
        names, stops = separator_masks(data, block, end)
        both = names | stops
        while both != 0:
            bit = lowest_bit(both)
            both &= both - np.uint64(1)
            if stops >> np.uint64(bit) & np.uint64(1):
                take_entry(data, start, name_end, block + bit, split_values, span)
                start, name_end = block + bit + 1, -1
            elif name_end < 0:
                name_end = block + bit
        block += BLOCK
    take_entry(data, start, name_end, end, split_values, span)


@cached_njit(nogil=True)
def take_entry(data: Bytes, start: int, name_end: int, end: int, split_values: bool, span: Longs) -> None:
    """Keep the value of one entry if its name is one of those above and the parser of that rule keeps it."""
    if not start < name_end < end - 1:
        return
    name = name_of(data, start, name_end - start)
    if name >= 0 and not (split_values and holds(data, name_end + 1, end, NAME_VALUE)):
        span[2 * name], span[2 * name + 1] = name_end + 1, end


@cached_njit(nogil=True)
def name_of(data: Bytes, at: int, size: int) -> int:
    """Which of the names above starts at `at`, -1 for any other."""
    if size == 4:
        word = load_int(data, at)
        return KEYS if word == KEYS_WORD else (TAGS if word == TAGS_WORD else -1)
    if size == 8:
        return UNIQ_KEY if load_long(data, at) == UNIQ_KEY_WORD else -1
    if size == 5:
        return DELAY if load_int(data, at) == DELA_WORD and data[at + 4] == LETTER_Y else -1
    if size == 9 and same(data, at, INNER_NUM_NAME):
        return INNER_NUM
    if size == 10 and same(data, at, INNER_BASE_NAME):
        return INNER_BASE
    if size == 20 and same(data, at, MULTI_DISPATCH_NAME):
        return MULTI_DISPATCH
    if size == 24 and same(data, at, MULTI_OFFSETS_NAME):
        return MULTI_OFFSETS
    return -1


@cached_njit(nogil=True)
def same(data: Bytes, at: int, name: Bytes) -> bool:
    step = 0
    while step < len(name) and data[at + step] == name[step]:
        step += 1
    return step == len(name)


@cached_njit(nogil=True)
def holds(data: Bytes, start: int, end: int, wanted: int) -> bool:
    at = start
    while at < end and data[at] != wanted:
        at += 1
    return at < end


@cached_njit(nogil=True)
def plain_number(data: Bytes, start: int, end: int) -> int:
    """The number of 1 to 18 ASCII digits; -1 for anything else."""
    if not 0 < end - start <= MAX_DIGITS:
        return -1
    value = 0
    for at in range(start, end):
        if not ZERO <= data[at] <= NINE:
            return -1
        value = value * 10 + int(np.int64(data[at])) - ZERO
    return value


@cached_njit(nogil=True)
def put_keys(data: Bytes, span: Longs, seed: int, tag_seed: int, index_tags: bool, keys: Ints, key_rows: int) -> int:
    """Append the index hashes of one record; the new number of rows, or MALFORMED."""
    value = 0
    if span[2 * UNIQ_KEY] >= 0:
        value = hash_utf8(data, span[2 * UNIQ_KEY], span[2 * UNIQ_KEY + 1], seed)
        if value == MALFORMED:
            return MALFORMED
        keys[key_rows] = index_hash(value)
        key_rows += 1
    at, end = span[2 * KEYS], span[2 * KEYS + 1]
    while at >= 0 and at < end:
        stop = at
        while stop < end and data[stop] != SPACE:
            stop += 1
        if stop > at:
            value = hash_utf8(data, at, stop, seed)
            if value == MALFORMED:
                return MALFORMED
            keys[key_rows] = index_hash(value)
            key_rows += 1
        at = stop + 1
    if index_tags and span[2 * TAGS] >= 0:
        value = hash_utf8(data, span[2 * TAGS], span[2 * TAGS + 1], tag_seed)
        if value == MALFORMED:
            return MALFORMED
        keys[key_rows] = index_hash(value)
        key_rows += 1
    return key_rows


@cached_njit(nogil=True)
def tags_code_of(
    data: Bytes, span: Longs, scheduled: bool, store_timestamp_ms: int, delay_ms: Longs
) -> tuple[int, bool]:
    """The tags code, and whether it could be told here."""
    if scheduled and span[2 * DELAY] >= 0:
        level = min(plain_number(data, span[2 * DELAY], span[2 * DELAY + 1]), len(delay_ms))
        if level <= 0:
            return 0, False
        return store_timestamp_ms + int(delay_ms[level - 1]), True
    if span[2 * TAGS] < 0:
        return 0, True
    value = hash_utf8(data, span[2 * TAGS], span[2 * TAGS + 1], 0)
    return (value if value < 2**31 else value - 2**32), value != MALFORMED


@cached_njit(nogil=True)
def pieces(data: Bytes, start: int, end: int) -> int:
    """Pieces between commas; 0 when one is empty or holds a path separator."""
    count, size = 1, 0
    for at in range(start, end):
        if data[at] == SLASH:
            return 0
        if data[at] == COMMA:
            if size == 0:
                return 0
            count, size = count + 1, 0
        else:
            size += 1
    return count if size else 0


@cached_njit(nogil=True)
def piece_end(data: Bytes, at: int, end: int) -> int:
    while at < end and data[at] != COMMA:
        at += 1
    return at


@cached_njit(nogil=True)
def put_units(
    data: Bytes, span: Longs, topics: TopicArrays, row: int, records: RecordColumns, units: UnitColumns, unit_rows: int
) -> tuple[int, int, int, int]:
    """Append the units of one record: (status, new number of rows, start and end of a new topic's name)."""
    topic, queue_id, queue_offset = int(records.topic[row]), int(records.queue_id[row]), int(records.queue_offset[row])
    traits = topics.traits[topic]
    count = 0
    if traits & IS_BATCH:
        count = 1
        if span[2 * INNER_NUM] >= 0 and span[2 * INNER_BASE] >= 0:
            count = plain_number(data, span[2 * INNER_NUM], span[2 * INNER_NUM + 1])
            queue_offset = plain_number(data, span[2 * INNER_BASE], span[2 * INNER_BASE + 1])
        if not 0 < count < 2**15 or queue_offset < 0:
            return ODD, unit_rows, 0, 0
    put_unit(units, unit_rows, row, topic, queue_id, queue_offset, count)
    unit_rows += 1
    multi = traits & MAY_MULTI_DISPATCH and span[2 * MULTI_DISPATCH] >= 0 and span[2 * MULTI_OFFSETS] >= 0
    if not multi or traits & IS_BATCH:
        return DONE, unit_rows, 0, 0
    name_at, names_end = span[2 * MULTI_DISPATCH], span[2 * MULTI_DISPATCH + 1]
    number_at, numbers_end = span[2 * MULTI_OFFSETS], span[2 * MULTI_OFFSETS + 1]
    listed = pieces(data, name_at, names_end)
    if listed == 0 or listed != pieces(data, number_at, numbers_end):
        return ODD, unit_rows, 0, 0
    for _ in range(listed):
        name_end, number_end = piece_end(data, name_at, names_end), piece_end(data, number_at, numbers_end)
        listed_offset = plain_number(data, number_at, number_end)
        target = look_up(topics.slots, topics.names, topics.ends, data, name_at, name_end)
        if listed_offset < 0:
            return ODD, unit_rows, 0, 0
        if target < 0:
            return NEW_TOPIC, unit_rows, name_at, name_end
        target_queue = 0 if topics.traits[target] & IS_LMQ else queue_id
        put_unit(units, unit_rows, row, target, target_queue, listed_offset, 0)
        unit_rows += 1
        name_at, number_at = name_end + 1, number_end + 1
    return DONE, unit_rows, 0, 0


@cached_njit(nogil=True)
def put_unit(
    units: UnitColumns, at: int, record: int, topic: int, queue_id: int, queue_offset: int, count: int
) -> None:
    units.record[at], units.topic[at], units.queue_id[at] = record, topic, queue_id
    units.queue_offset[at], units.message_count[at] = queue_offset, count


@cached_njit(nogil=True)
def scan_records(
    data: Bytes,
    first_row: int,
    rows: int,
    topics: TopicArrays,
    options: ScanOptions,
    records: RecordColumns,
    units: UnitColumns,
    unit_rows: int,
    keys: Ints,
    key_rows: int,
) -> tuple[int, int, int, int, int, int]:
    """Fill the columns for the records at `records.file_pos[first_row:rows]`, which are whole and well-formed.

    Returns (status, row, unit rows, key rows, start and end of a new topic's name); DONE at the end, else why it
    stopped before that row: NEW_TOPIC, FULL (units or keys need more room), ODD.
    """
    span = np.empty(16, np.int64)
    for row in range(first_row, rows):
        at = records.file_pos[row]
        total_size, _, _, topic_at, topic_size, properties_at, properties_size = shape_of(data, at)
        topic_end, properties_end = topic_at + topic_size, properties_at + properties_size
        if key_rows + properties_size // 2 + 3 > len(keys):
            return FULL, row, unit_rows, key_rows, 0, 0
        if unit_rows + properties_size // 2 + 3 > len(units.record):
            return FULL, row, unit_rows, key_rows, 0, 0
        topic = look_up(topics.slots, topics.names, topics.ends, data, topic_at, topic_end)
        if topic < 0:
            return NEW_TOPIC, row, unit_rows, key_rows, topic_at, topic_end
        find_spans(data, properties_at, properties_end, options.split_values, span)
        sys_flag = load_int(data, at + AT_SYS_FLAG)
        more = HOST_V6_MORE if sys_flag & SYS_FLAG_BORN_HOST_V6 else 0
        store_timestamp_ms = load_long(data, at + STORE_TIME_AT_V4 + more)
        records.total_size[row], records.sys_flag[row] = total_size, sys_flag
        records.physical_offset[row] = own_offset(data, at)
        records.store_timestamp_ms[row], records.topic[row] = store_timestamp_ms, topic
        records.queue_id[row] = load_int(data, at + AT_QUEUE_ID)
        records.queue_offset[row] = load_long(data, at + AT_QUEUE_OFFSET)
        records.state[row], records.first_key[row] = PLAIN, key_rows
        scheduled = bool(topics.traits[topic] & IS_SCHEDULE)
        code, told = tags_code_of(data, span, scheduled, store_timestamp_ms, options.delay_ms)
        records.tags_code[row] = code
        transaction = sys_flag & SYS_FLAG_TRANSACTION
        status, new_unit_rows, name_at, name_end = DONE, unit_rows, 0, 0
        if told and (transaction == 0 or transaction == COMMIT):
            status, new_unit_rows, name_at, name_end = put_units(data, span, topics, row, records, units, unit_rows)
        new_key_rows = key_rows
        if options.index_enabled and transaction != ROLLBACK:
            new_key_rows = put_keys(
                data, span, topics.seeds[topic], topics.tag_seeds[topic], options.index_tags, keys, key_rows
            )
        if status == NEW_TOPIC:
            return NEW_TOPIC, row, unit_rows, key_rows, name_at, name_end
        if not told or status == ODD or new_key_rows == MALFORMED or topics.seeds[topic] == MALFORMED:
            return ODD, row, unit_rows, key_rows, 0, 0
        unit_rows, key_rows = new_unit_rows, new_key_rows
    return DONE, rows, unit_rows, key_rows, 0, 0


@cached_njit(nogil=True)
def walk(data: Bytes, at: int, base_offset: int, positions: Longs) -> tuple[int, int]:
    """Fill `positions` with records that follow one another from byte `at`; returns how many, and where the next would
    start: where `positions` is full, or where no well-formed record stands that says it stands there."""
    count = 0
    while count < len(positions):
        total_size = shape_of(data, at)[0]
        if total_size == 0 or own_offset(data, at) != base_offset + at:
            break
        positions[count] = at
        count += 1
        at += total_size
    return count, at


@cached_njit(nogil=True)
def next_record(data: Bytes, at: int, base_offset: int) -> int:
    """The first byte from `at` on where a well-formed record stands that says it stands there; -1 without one."""
    while at < len(data):
        if shape_of(data, at)[0] > 0 and own_offset(data, at) == base_offset + at:
            return at
        at += 1
    return -1


@cached_njit(nogil=True)
def written_end(data: Bytes, at: int) -> int:
    """The byte after the last one that is not zero, `at` when there is none from there on."""
    end = len(data)
    while end >= at + WORD and load_long(data, end - WORD) == 0:
        end -= WORD
    while end > at and data[end - 1] == 0:
        end -= 1
    return end
