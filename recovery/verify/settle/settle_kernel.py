"""Compiled comparison of what dispatch makes of a log with what the files hold, while the log's bytes are at hand.

What is in its place byte for byte is settled: no rule has anything to say about it. Everything else is left for the
rules. Nothing is judged here.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from parsers.commitlog.record.layout import SYS_FLAG_TRANSACTION
from parsers.kernels.arrays import Bytes, Codes, Ints, LongRows, Longs, Mask
from parsers.kernels.bigendian import int_at, load_int, load_long, long_at
from parsers.kernels.kernel import kernel
from parsers.values.java import INT_MAX, LONG_MAX, LONG_MIN
from recovery.rebuild.queue_kernel import SIZE_AT, TAGS_AT, UNIT
from recovery.rules.dispatch import PREPARED, ROLLBACK
from recovery.scan.kernel import RecordColumns, UnitColumns
from recovery.scan.queue_numbers import fill_slots, new_slots, queue_number
from recovery.verify.settle.index_kernel import DIFF_AT, ENTRY, PHYSICAL_AT, seconds_since

DONE, ASK_WINDOW, FULL = 0, 1, 2
"""Why a pass over units stopped: at the end; at a unit outside its queue's window; where another queue needs room."""
NONE = LONG_MIN
EXPIRED, FIRST_EXPIRED, LAST_EXPIRED, BLANKS, FIRST_BLANK = range(5)
AROUND = 2
"""Records on either side of a fall in store times that tell which of two is out of order."""


class QueueCursors(NamedTuple):
    """How far each queue is settled, by queue number; `slots`, `key` and `met` as in `QueueState`.

    `first` is the queue offset of the first settled unit and `following` the one after the last (NONE without any),
    `most` the highest that dispatch makes. Units `window_first` to `window_last` lie at the address `window_at`; 0: no
    file has them.
    """

    slots: Longs
    key: Longs
    met: Longs
    first: Longs
    following: Longs
    most: Longs
    window_at: Longs
    window_first: Longs
    window_last: Longs


def new_cursors(capacity: int) -> QueueCursors:
    """Room for so many queues, none of them met."""

    def longs(value: int) -> Longs:
        return np.full(capacity, value, np.int64)

    return QueueCursors(
        slots=new_slots(capacity),
        key=longs(0),
        met=np.zeros(1, np.int64),
        first=longs(NONE),
        following=longs(NONE),
        most=longs(NONE),
        window_at=longs(0),
        window_first=longs(LONG_MAX),
        window_last=longs(LONG_MIN),
    )


def more_cursors(cursors: QueueCursors) -> QueueCursors:
    """Copy the cursors of all queues into a table with room for twice as many."""
    met = int(cursors.met[0])
    grown = new_cursors(2 * len(cursors.key))
    for old, new in zip(cursors[3:], grown[3:], strict=True):
        new[:met] = old[:met]
    grown.key[:met], grown.met[0] = cursors.key[:met], met
    fill_slots(grown.slots, grown.key, met)
    return grown


class Unsettled(NamedTuple):
    """What a pass over units leaves for the rules.

    `queue` has the queue number of each unit (-1 in a BatchCQ), `left` whether it is not settled, `met_topics` by topic
    code whether it has a unit. `spans` has (queue number, first, end) of the queue offsets between two settled units:
    what the files hold there is left, too.
    """

    queue: Ints
    left: Mask
    met_topics: Mask
    spans: LongRows


@kernel
def settle_units(
    cursors: QueueCursors, records: RecordColumns, units: UnitColumns, out: Unsettled, row: int, spans_found: int
) -> tuple[int, int, int]:
    """Compare units from `row` on with the files' windows: (row, spans found, why it stopped)."""
    queue, left, met_topics, spans = out
    slots, keys, met, first, following, most, window_at, window_first, window_last = cursors
    physical_offsets, sizes, tags_codes = records.physical_offset, records.total_size, records.tags_code
    unit_records, topics, queue_ids, queue_offsets, counts = units
    while row < len(left):
        met_topics[topics[row]] = True
        left[row] = True
        queue[row] = -1
        if counts[row] > 0:
            row += 1
            continue
        if met[0] == len(keys):
            return row, spans_found, FULL
        number = queue_number(slots, keys, met, topics[row], queue_ids[row])
        slot, record = queue_offsets[row], unit_records[row]
        if not window_first[number] <= slot <= window_last[number]:
            queue[row] = number
            return row, spans_found, ASK_WINDOW
        queue[row] = number
        most[number] = max(most[number], slot)
        at = window_at[number]
        if at != 0 and slot >= following[number]:
            at += (slot - window_first[number]) * UNIT
            if (
                long_at(at) == physical_offsets[record]
                and int_at(at + SIZE_AT) == sizes[record]
                and long_at(at + TAGS_AT) == tags_codes[record]
            ):
                if first[number] == NONE:
                    first[number] = slot
                elif slot > following[number]:
                    spans[spans_found, 0] = number
                    spans[spans_found, 1], spans[spans_found, 2] = following[number], slot
                    spans_found += 1
                following[number] = slot + 1
                left[row] = False
        row += 1
    return row, spans_found, DONE


@kernel
def past_head(data: Bytes, unit: int, end: int, log_start: int, head: Longs, first: int) -> int:
    """The first of units `unit` to before `end` of a file that is neither a pre-blank nor of a message before the log.

    `head` (see `QueueHead`) takes in those that are; the file's first unit is that of queue offset `first`.
    """
    while unit < end:
        physical_offset, size = load_long(data, unit * UNIT), load_int(data, unit * UNIT + SIZE_AT)
        if physical_offset == 0 and size == INT_MAX and load_long(data, unit * UNIT + TAGS_AT) == 0:
            head[BLANKS] += 1
            if head[BLANKS] == 1:
                head[FIRST_BLANK] = first + unit
        elif 0 <= physical_offset < log_start and size > 0:
            head[EXPIRED] += 1
            head[LAST_EXPIRED] = first + unit
            if head[EXPIRED] == 1:
                head[FIRST_EXPIRED] = first + unit
        else:
            break
        unit += 1
    return unit


class KeyPlace(NamedTuple):
    """One index file as the pass over keys needs it: see `FileEntries`; `last_place` is the header's last offset."""

    data: Bytes
    entries_at: int
    entries: int
    begin_ms: int
    before_ms: int
    last_place: int


ROW, KEY, ENTRY_NO, LEFT_FROM, SPANS_FOUND = range(5)
"""Where the pass over keys is: the record, its key, the file's entry, the first entry of those left one after another
(0: none), and how many spans of them there are."""


@kernel
def settle_keys(place: KeyPlace, records: RecordColumns, keys: Ints, state: Longs, left: Mask, spans: LongRows) -> None:
    """Compare keys with the entries of one file, in step; `left` marks keys that no entry here settles.

    Stops where the records end, or after the file's last entry, or when `spans` (first, end entry) is full.
    """
    data, entries_at, entries, begin_ms, before_ms, last_place = place
    physical_offsets, store_times, first_keys = records.physical_offset, records.store_timestamp_ms, records.first_key
    rows, row, key, entry = len(physical_offsets), state[ROW], state[KEY], state[ENTRY_NO]
    left_from, found = state[LEFT_FROM], state[SPANS_FOUND]
    while row < rows and entry <= entries and found < len(spans):
        if key >= first_keys[row + 1]:
            row += 1
            continue
        at = entries_at + ENTRY * entry
        stored, own = load_long(data, at + PHYSICAL_AT), physical_offsets[row]
        if stored == own and load_int(data, at) == keys[key]:
            seconds = load_int(data, at + DIFF_AT)
            right = seconds == seconds_since(store_times[row], begin_ms)
            if right or (entry == 1 and seconds == seconds_since(store_times[row], before_ms)):
                if left_from != 0:
                    spans[found, 0], spans[found, 1] = left_from, entry
                    found, left_from = found + 1, 0
                left[key] = False
                key, entry = key + 1, entry + 1
                continue
        after = load_long(data, at + ENTRY + PHYSICAL_AT) if entry < entries else last_place
        if stored > own and after >= stored:  # an entry of a later record, by its neighbour: this key has none
            key += 1
            continue
        left_from = entry if left_from == 0 else left_from
        entry += 1
        key += stored == own
    if entry > entries and left_from != 0 and found < len(spans):
        spans[found, 0], spans[found, 1] = left_from, entry
        found, left_from = found + 1, 0
    state[ROW], state[KEY], state[ENTRY_NO], state[LEFT_FROM], state[SPANS_FOUND] = row, key, entry, left_from, found


@kernel
def note_records(records: RecordColumns, crc: Codes, before_ms: int, wanted: int, noted: Mask) -> tuple[int, int, int]:
    """Mark the records that a rule about the log itself has to look at, and the neighbours it compares them with.

    `before_ms` is the store time of the record before, `wanted` how many of the first rows are such neighbours.
    Returns: how many records before the first row are neighbours, how many after the last, latest time.
    """
    before, latest_ms = 0, before_ms
    times, sys_flags, queue_offsets = records.store_timestamp_ms, records.sys_flag, records.queue_offset
    for row in range(len(times)):
        if times[row] < before_ms:
            before = max(before, AROUND - row)
            for neighbour in range(max(0, row - AROUND), row):
                noted[neighbour] = True
            wanted = row + AROUND
        before_ms = times[row]
        latest_ms = max(latest_ms, before_ms)
        transaction = sys_flags[row] & SYS_FLAG_TRANSACTION
        placed = transaction in (PREPARED, ROLLBACK) and queue_offsets[row] != 0
        noted[row] = row < wanted or crc[row] != 0 or placed or before_ms <= 0
    return before, max(0, wanted - len(times)), latest_ms
