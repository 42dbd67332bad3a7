"""Compiled passes over an index file: the chains that the hashes of its entries ask for, and where entries are."""

from __future__ import annotations

from parsers.index.layout import INDEX_ENTRY, INDEX_HEADER, INDEX_SLOT
from parsers.kernels.arrays import Bytes, Ints, Longs
from parsers.kernels.bigendian import load_int, load_long
from parsers.kernels.blocks import prefetch
from parsers.kernels.kernel import kernel
from parsers.values.java import INT_MAX

HEADER, SLOT, ENTRY = INDEX_HEADER.size, INDEX_SLOT.size, INDEX_ENTRY.size
PHYSICAL_AT, DIFF_AT, PREVIOUS_AT = (
    INDEX_ENTRY.offsets[name] for name in ("physical_offset", "time_diff_s", "prev_index_no")
)
MOST_SECONDS = INT_MAX
AHEAD = 16
"""Which entry's chain is asked for while another is compared: slots are far apart."""


@kernel
def seconds_since(store_time: int, begin_time: int) -> int:
    """`IndexFile#putKey`'s time difference."""
    elapsed = store_time - begin_time
    return 0 if begin_time <= 0 or elapsed < 0 else min(elapsed // 1000, MOST_SECONDS)


@kernel
def entry_from(data: Bytes, entries_at: int, entries: int, physical_offset: int) -> int:
    """The first entry of those of a record at or after a place, if they rise; one more than `entries` without any."""
    first, end = 1, entries + 1
    while first < end:
        middle = (first + end) // 2
        if load_long(data, entries_at + ENTRY * middle + PHYSICAL_AT) < physical_offset:
            first = middle + 1
        else:
            end = middle
    return first


@kernel
def live_entries(data: Bytes, entries_at: int, first: int, end: int, log_start: int, numbers: Longs) -> int:
    """Entries `first` to before `end` of records at or after the log's start, or of a place below 0, which no record
    ever had; returns how many, as far as they fit."""
    count = 0
    for number in range(first, end):
        place = load_long(data, entries_at + ENTRY * number + PHYSICAL_AT)
        if place >= log_start or place < 0:
            if count < len(numbers):
                numbers[count] = number
            count += 1
    return count


@kernel
def follow_chains(
    data: Bytes, number: int, end: int, newest: Ints, broken: Longs, previous: Longs, found: int
) -> tuple[int, int, bool]:
    """Go on with the chains that the hashes of entries `number` to before `end` ask for: (entry reached, found, whether
    one of their records starts before the last entry's).

    `newest` has the newest entry of each slot so far. `broken` gets the entries that name another one than `previous`.
    Stops early where these are full.
    """
    hash_slots = len(newest)
    entries_at = HEADER + SLOT * hash_slots
    last = (len(data) - entries_at) // ENTRY - 1
    falls, before = False, load_long(data, entries_at + ENTRY * max(number - 1, 1) + PHYSICAL_AT)
    while number < end and found < len(broken):
        ahead = load_int(data, entries_at + ENTRY * min(number + AHEAD, last))
        prefetch(newest, ahead % hash_slots if ahead >= 0 else 0)
        key_hash = load_int(data, entries_at + ENTRY * number)
        slot = key_hash % hash_slots if key_hash >= 0 else 0
        if load_int(data, entries_at + ENTRY * number + PREVIOUS_AT) != newest[slot]:
            broken[found], previous[found] = number, newest[slot]
            found += 1
        newest[slot] = number
        place = load_long(data, entries_at + ENTRY * number + PHYSICAL_AT)
        falls, before = falls or place < before, place
        number += 1
    return number, found, falls


@kernel
def longest_rise(data: Bytes, entries_at: int, ends: Ints, before: Ints) -> None:
    """Mark, with -1 in `before`, the most entries whose records follow one another in the log.

    The entry of number n is marked in `before[n]`, by which the entries are counted; those below 0 there are left out.
    `ends` has room for as many.
    """
    length = 0
    for number in range(1, len(before)):
        if before[number] < 0:
            continue
        place = load_long(data, entries_at + ENTRY * number + PHYSICAL_AT)
        first, end = 0, length
        while first < end:
            middle = end - 1 if end == length else (first + end) // 2
            if load_long(data, entries_at + ENTRY * ends[middle] + PHYSICAL_AT) > place:
                end = middle
            else:
                first = middle + 1
        before[number] = ends[first - 1] if first else 0
        ends[first] = number
        length = max(length, first + 1)
    number = ends[length - 1] if length else 0
    while number > 0:
        earlier = before[number]
        before[number] = -1
        number = earlier


@kernel
def compare_slots(data: Bytes, slot: int, newest: Ints, differing: Longs, found: int) -> tuple[int, int]:
    """Go on comparing the stored slots with these: (slot reached, how many of `differing` are found)."""
    while slot < len(newest) and found < len(differing):
        if load_int(data, HEADER + SLOT * slot) != newest[slot]:
            differing[found] = slot
            found += 1
        slot += 1
    return slot, found


@kernel
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
