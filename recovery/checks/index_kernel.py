"""Compiled passes over an index file's entries: the chains that their hashes ask for, and agreement with the log."""

from __future__ import annotations

import numpy as np

from parsers.index.layout import INDEX_ENTRY, INDEX_HEADER, INDEX_SLOT
from parsers.java import INT_MAX
from parsers.kernels.bigendian import load_int, load_long
from parsers.kernels.blocks import prefetch
from parsers.numba_cache import cached_njit
from recovery.scan_kernel import Bytes, Ints, Longs

HEADER, SLOT, ENTRY = INDEX_HEADER.size, INDEX_SLOT.size, INDEX_ENTRY.size
PHYSICAL_AT, DIFF_AT, PREVIOUS_AT = (
    INDEX_ENTRY.offsets[name] for name in ("physical_offset", "time_diff_s", "prev_index_no")
)
MOST_SECONDS = INT_MAX
AHEAD = 16
"""Which entry's chain is asked for while another is compared: slots are far apart."""


@cached_njit(nogil=True, _nrt=False)
def seconds_since(store_time: int, begin_time: int) -> int:
    """`IndexFile#putKey`'s time difference."""
    elapsed = store_time - begin_time
    return 0 if begin_time <= 0 or elapsed < 0 else min(elapsed // 1000, MOST_SECONDS)


@cached_njit(nogil=True, _nrt=False)
def agreeing_entries(
    data: Bytes,
    hash_slots: int,
    entries: int,
    begin_time: int,
    before_time: int,
    key_hash: Ints,
    key_record: Ints,
    first_key: int,
    physical_offset: Longs,
    store_time: Longs,
    newest: Ints,
) -> int:
    """How many entries, from the first on, are exactly what the log's keys from `first_key` on put there.

    `newest` (one per slot, zero) gets the newest entry of each chain. `before_time` is the previous file's end, from
    which the first entry's seconds count.
    """
    entries_at, last_key = HEADER + SLOT * hash_slots, len(key_hash) - 1
    for number in range(1, entries + 1):
        at, key = entries_at + ENTRY * number, first_key + number - 1
        if key >= len(key_hash):
            return number - 1
        prefetch(newest, key_hash[min(key + AHEAD, last_key)] % hash_slots)
        stored_hash, record = load_int(data, at), key_record[key]
        since = before_time if number == 1 else begin_time
        if (
            stored_hash != key_hash[key]
            or load_long(data, at + PHYSICAL_AT) != physical_offset[record]
            or load_int(data, at + DIFF_AT) != seconds_since(store_time[record], since)
            or load_int(data, at + PREVIOUS_AT) != newest[stored_hash % hash_slots]
        ):
            return number - 1
        newest[stored_hash % hash_slots] = number
    return entries


@cached_njit(nogil=True, _nrt=False)
def slots_equal(data: Bytes, newest: Ints) -> tuple[bool, int]:
    """Whether the stored slots are these, and how many are in use."""
    used, equal = 0, True
    for slot in range(len(newest)):
        equal &= load_int(data, HEADER + SLOT * slot) == newest[slot]
        used += newest[slot] != 0
    return equal, used


@cached_njit(nogil=True, _nrt=False)
def chain_ends(key_hash: Ints, hash_slots: int, previous: Ints, newest: Ints) -> None:
    """For entries 1, 2, …: what `prev_index_no` should be, and the newest entry of each chain."""
    for row in range(len(key_hash)):
        slot = key_hash[row] % hash_slots if key_hash[row] >= 0 else 0
        previous[row] = newest[slot]
        newest[slot] = row + 1


@cached_njit(nogil=True, _nrt=False)
def written_entries(data: Bytes, hash_slots: int) -> int:
    """The number of the last entry that is not all zero."""
    entries_at = HEADER + SLOT * hash_slots
    last = (len(data) - entries_at) // ENTRY - 1
    while last >= 1:
        at = entries_at + ENTRY * last
        if load_long(data, at) != 0 or load_long(data, at + 8) != 0 or load_int(data, at + 16) != 0:
            return last
        last -= 1
    return 0


@cached_njit(nogil=True, _nrt=False)
def _count_behind(data: Bytes, hash_slots: int, entries: int, end: int, found: Longs) -> int:
    """How many entries point at or behind `end`; the first ones are put into `found`."""
    count = 0
    for number in range(1, entries + 1):
        place = load_long(data, HEADER + SLOT * hash_slots + ENTRY * number + PHYSICAL_AT)
        if place >= end:
            if count < len(found):
                found[count] = place
            count += 1
    return count


def entries_behind(data: Bytes, hash_slots: int, entries: int, end: int) -> Longs:
    """Where the entries point that point at or behind `end`."""
    found = np.empty(1024, np.int64)
    count = _count_behind(data, hash_slots, entries, end, found)
    if count > len(found):
        found = np.empty(count, np.int64)
        _count_behind(data, hash_slots, entries, end, found)
    return found[:count]


def empty_slots(hash_slots: int) -> Ints:
    return np.zeros(hash_slots, np.int32)
