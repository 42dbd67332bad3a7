"""One compiled pass over the records of a log: each record's queue units and index hashes, by the rules of `dispatch`.

Whatever a record holds that is rare (text that is not UTF-8, a DELAY or a list of offsets that is no plain number) ends
the pass with ODD at its row: the caller asks `dispatch` for that row and goes on. Both stand under the same tests.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from parsers.commitlog.compiled.shape import (
    AT_BORN_HOST,
    AT_QUEUE_ID,
    AT_QUEUE_OFFSET,
    AT_SYS_FLAG,
    HOST_V6_MORE,
    own_offset,
    shape_of,
)
from parsers.commitlog.record.layout import HOST_V4, SYS_FLAG_BORN_HOST_V6, SYS_FLAG_TRANSACTION
from parsers.kernels.arrays import BLOCK, Bytes, Ints, Longs, Shorts
from parsers.kernels.bigendian import load_int, load_long
from parsers.kernels.blocks import equal_mask, lowest_bit
from parsers.kernels.java_hash import MALFORMED, hash_utf8, index_hash
from parsers.kernels.kernel import inline_kernel, kernel
from recovery.rules.dispatch import COMMIT, ROLLBACK
from recovery.scan.property_spans import (
    DELAY,
    INNER_BASE,
    INNER_NUM,
    KEYS,
    MULTI_DISPATCH,
    MULTI_OFFSETS,
    TAGS,
    UNIQ_KEY,
    find_spans,
)
from recovery.scan.topic_table import IS_BATCH, IS_LMQ, IS_SCHEDULE, MAY_MULTI_DISPATCH, TopicArrays, look_up

DONE, NEW_TOPIC, FULL, ODD = 0, 1, 2, 3
"""Why a scan stopped: at the end; at a topic not met yet; where units or keys need more room; at a row to ask about."""
PLAIN, INVALID = 0, 1

STORE_TIME_AT_V4 = AT_BORN_HOST + HOST_V4.size
SPACE, COMMA, SLASH, ZERO, NINE = np.uint8(0x20), 0x2C, 0x2F, 0x30, 0x39
MAX_DIGITS = 18


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


class ScanBatch(NamedTuple):
    """What one run of records is dispatched to: their units, and their keys as index hashes.

    Topics are codes of the scanner's table.
    """

    records: RecordColumns
    units: UnitColumns
    keys: Ints

    @property
    def rows(self) -> int:
        return len(self.records.file_pos)


class ScanOptions(NamedTuple):
    """The rules of a scan; `span` is room for `find_spans`."""

    delay_ms: Longs
    index_enabled: bool
    index_tags: bool
    index_commits: bool
    index_unique_ids: bool
    split_values: bool
    span: Longs


@kernel
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


@kernel
def word_end(data: Bytes, at: int, end: int) -> int:
    """Where the first space from `at` on is, or `end`."""
    while at + BLOCK <= len(data) and at < end:
        spaces = equal_mask(data, at, SPACE)
        if spaces != 0:
            return min(end, at + lowest_bit(spaces))
        at += BLOCK
    while at < end and data[at] != SPACE:
        at += 1
    return min(at, end)


@kernel
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
        stop = word_end(data, at, end)
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


@kernel
def tags_code_of(
    data: Bytes, span: Longs, scheduled: bool, store_timestamp_ms: int, delay_ms: Longs
) -> tuple[int, bool]:
    """The tags code, and whether this kernel could determine it."""
    if scheduled and span[2 * DELAY] >= 0:
        level = min(plain_number(data, span[2 * DELAY], span[2 * DELAY + 1]), len(delay_ms))
        if level <= 0:
            return 0, False
        return store_timestamp_ms + int(delay_ms[level - 1]), True
    if span[2 * TAGS] < 0:
        return 0, True
    value = hash_utf8(data, span[2 * TAGS], span[2 * TAGS + 1], 0)
    return (value if value < 2**31 else value - 2**32), value != MALFORMED


@kernel
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


@kernel
def piece_end(data: Bytes, at: int, end: int) -> int:
    while at < end and data[at] != COMMA:
        at += 1
    return at


@kernel
def put_multi_dispatch(
    data: Bytes, span: Longs, topics: TopicArrays, row: int, queue_id: int, units: UnitColumns, at: int
) -> tuple[int, int, int, int]:
    """Append the units of a multi-dispatch, if it is one: (status, new number of rows, span of a new topic's name)."""
    if span[2 * MULTI_DISPATCH] < 0 or span[2 * MULTI_OFFSETS] < 0:
        return DONE, at, 0, 0
    name_at, names_end = span[2 * MULTI_DISPATCH], span[2 * MULTI_DISPATCH + 1]
    number_at, numbers_end = span[2 * MULTI_OFFSETS], span[2 * MULTI_OFFSETS + 1]
    listed = pieces(data, name_at, names_end)
    if listed == 0 or listed != pieces(data, number_at, numbers_end):
        return ODD, at, 0, 0
    for _ in range(listed):
        name_end, number_end = piece_end(data, name_at, names_end), piece_end(data, number_at, numbers_end)
        listed_offset = plain_number(data, number_at, number_end)
        if listed_offset < 0:
            return ODD, at, 0, 0
        target = look_up(topics.slots, topics.names, topics.ends, data, name_at, name_end)
        if target < 0:
            return NEW_TOPIC, at, name_at, name_end
        if topics.seeds[target] == MALFORMED:  # the broker knows a queue by the decoded name, which others may share
            return ODD, at, 0, 0
        units.record[at], units.topic[at], units.queue_offset[at] = row, target, listed_offset
        units.queue_id[at] = 0 if topics.traits[target] & IS_LMQ else queue_id
        units.message_count[at] = 0
        at += 1
        name_at, number_at = name_end + 1, number_end + 1
    return DONE, at, 0, 0


@kernel
def batch_of(data: Bytes, span: Longs, queue_offset: int) -> tuple[int, int]:
    """Base offset and message count of a record in a BatchCQ; count 0 where only the scalar rule can tell."""
    if span[2 * INNER_NUM] < 0 or span[2 * INNER_BASE] < 0:
        return queue_offset, int(queue_offset >= 0)
    count = plain_number(data, span[2 * INNER_NUM], span[2 * INNER_NUM + 1])
    base = plain_number(data, span[2 * INNER_BASE], span[2 * INNER_BASE + 1])
    return base, count if base >= 0 and 0 < count < 2**15 else 0


@inline_kernel
def put_units(
    data: Bytes, span: Longs, topics: TopicArrays, records: RecordColumns, row: int, units: UnitColumns, at: int
) -> tuple[int, int, int, int]:
    """Append the units of a record that dispatch takes: (status, new number of rows, span of a new topic's name)."""
    topic, queue_id, queue_offset = records.topic[row], records.queue_id[row], records.queue_offset[row]
    traits, count = topics.traits[topic], 0
    if traits & IS_BATCH:
        queue_offset, count = batch_of(data, span, queue_offset)
        if count == 0:
            return ODD, at, 0, 0
    units.record[at], units.topic[at], units.queue_id[at] = row, topic, queue_id
    units.queue_offset[at], units.message_count[at] = queue_offset, count
    if traits & MAY_MULTI_DISPATCH and not count and span[2 * MULTI_DISPATCH] >= 0:
        return put_multi_dispatch(data, span, topics, row, queue_id, units, at + 1)
    return DONE, at + 1, 0, 0


@kernel
def store_time_of(data: Bytes, at: int, sys_flag: int) -> int:
    """The store time of the record at `at`."""
    return load_long(data, at + STORE_TIME_AT_V4 + (HOST_V6_MORE if sys_flag & SYS_FLAG_BORN_HOST_V6 else 0))


@kernel
def scan_records(
    data: Bytes,
    topics: TopicArrays,
    options: ScanOptions,
    out: ScanBatch,
    first_row: int,
    unit_rows: int,
    key_rows: int,
) -> tuple[int, int, int, int, int, int]:
    """Fill the columns for the well-formed records at `out.records.file_pos[first_row:]`.

    Returns (status, row, unit rows, key rows, span of a new topic's name); DONE, or why it stopped before that row.
    """
    # Without `_nrt=False`, here and in what is called, counting references to the arrays takes half of the time.
    records, units, keys = out
    slots, names, ends, seeds, tag_seeds, all_traits = topics
    file_pos, physical_offsets, total_sizes, sys_flags, store_timestamps = records[:5]
    record_topics, queue_ids, queue_offsets, tags_codes, states, first_keys = records[5:]
    delay_ms, index_enabled, index_tags, index_commits, index_unique_ids, split_values, span = options
    for row in range(first_row, len(file_pos)):
        at = file_pos[row]
        total_size, _, _, topic_at, topic_size, properties_at, properties_size = shape_of(data, at)
        most = properties_size // 2 + 3
        if key_rows + most > len(keys) or unit_rows + most > len(units.record):
            return FULL, row, unit_rows, key_rows, 0, 0
        topic = look_up(slots, names, ends, data, topic_at, topic_at + topic_size)
        if topic < 0:
            return NEW_TOPIC, row, unit_rows, key_rows, topic_at, topic_at + topic_size
        told = find_spans(data, properties_at, properties_at + properties_size, split_values, span)
        if not index_unique_ids:
            span[2 * UNIQ_KEY] = -1
        sys_flag = load_int(data, at + AT_SYS_FLAG)
        store_timestamp_ms = store_time_of(data, at, sys_flag)
        total_sizes[row], sys_flags[row], record_topics[row] = total_size, sys_flag, topic
        physical_offsets[row], store_timestamps[row] = own_offset(data, at), store_timestamp_ms
        queue_ids[row], queue_offsets[row] = load_int(data, at + AT_QUEUE_ID), load_long(data, at + AT_QUEUE_OFFSET)
        states[row], first_keys[row] = PLAIN, key_rows
        traits = all_traits[topic]
        tags_codes[row], known = tags_code_of(data, span, traits & IS_SCHEDULE != 0, store_timestamp_ms, delay_ms)
        if not known or not told or seeds[topic] == MALFORMED:
            return ODD, row, unit_rows, key_rows, 0, 0
        transaction, units_end = sys_flag & SYS_FLAG_TRANSACTION, unit_rows
        if transaction == 0 or transaction == COMMIT:
            status, units_end, at, end = put_units(data, span, topics, records, row, units, units_end)
            if status != DONE:
                return status, row, unit_rows, key_rows, at, end
        if index_enabled and transaction != ROLLBACK and (index_commits or transaction != COMMIT):
            keys_end = put_keys(data, span, seeds[topic], tag_seeds[topic], index_tags, keys, key_rows)
            if keys_end == MALFORMED:
                return ODD, row, unit_rows, key_rows, 0, 0
            key_rows = keys_end
        unit_rows = units_end
    return DONE, len(file_pos), unit_rows, key_rows, 0, 0
