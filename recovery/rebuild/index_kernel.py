"""Put many keys into an index file at once: the compiled twin of `recovery.rebuild.index_writer`."""

from __future__ import annotations

from typing import NamedTuple

from parsers.index.layout import INDEX_ENTRY, INDEX_HEADER, INDEX_SLOT
from parsers.kernels.arrays import Bytes, Ints, Longs, Mask
from parsers.kernels.bigendian import load_int, store_int, store_long
from parsers.kernels.blocks import prefetch
from parsers.kernels.kernel import inline_kernel, kernel
from parsers.values.java import INT_MAX
from recovery.scan.kernel import INVALID, RecordColumns

HEADER, SLOT, ENTRY = INDEX_HEADER.size, INDEX_SLOT.size, INDEX_ENTRY.size
PHYSICAL_AT, DIFF_AT, PREVIOUS_AT = (
    INDEX_ENTRY.offsets[name] for name in ("physical_offset", "time_diff_s", "prev_index_no")
)
BEGIN_TIME, END_TIME, BEGIN_PHYSICAL, END_PHYSICAL, SLOT_COUNT, INDEX_COUNT = range(6)
MOST_SECONDS = INT_MAX
PAGE = 1 << 12
"""Bytes of a page of the head: one that has nothing is left out of the file."""
AHEAD = 16
"""Which key's slot is asked for while another is put: slots are far apart."""


class IndexInWork(NamedTuple):
    """An index file that is being written.

    `header` holds its six fields in file order. `head` is header and slots as the file has them, `touched` tells which
    of its pages are written to. `entries` has room for the entries from number `first` on.
    """

    head: Bytes
    touched: Mask
    entries: Bytes
    first: int
    header: Longs
    hash_slots: int
    max_entries: int
    count_puts: bool


@inline_kernel
def put_key(file: IndexInWork, key_hash: int, physical_offset: int, store_time: int) -> None:
    """`IndexFileWriter.put` for a file that is not full."""
    head, touched, entries, first, header, hash_slots, _, count_puts = file
    slot_at = HEADER + SLOT * (key_hash % hash_slots)
    number = header[INDEX_COUNT]
    previous = load_int(head, slot_at)
    if previous <= 0 or previous > number:
        previous = 0
    elapsed = store_time - header[BEGIN_TIME]
    seconds = 0 if header[BEGIN_TIME] <= 0 or elapsed < 0 else min(elapsed // 1000, MOST_SECONDS)
    at = ENTRY * (number - first)
    store_int(entries, at, key_hash)
    store_long(entries, at + PHYSICAL_AT, physical_offset)
    store_int(entries, at + DIFF_AT, seconds)
    store_int(entries, at + PREVIOUS_AT, previous)
    store_int(head, slot_at, number)
    touched[slot_at // PAGE] = True
    if number <= 1:
        header[BEGIN_PHYSICAL], header[BEGIN_TIME] = physical_offset, store_time
    if previous == 0 or count_puts:
        header[SLOT_COUNT] += 1
    header[INDEX_COUNT] = number + 1
    header[END_PHYSICAL], header[END_TIME] = physical_offset, store_time


@kernel
def put_records(file: IndexInWork, records: RecordColumns, keys: Ints, row: int, key_row: int) -> tuple[int, int]:
    """Index the records from `row`, going on at `key_row` of its keys; returns both where a new file is needed.

    At the end the row is the number of records. As in `IndexWriter.put`: a record that finds the file full needs a new
    one even without keys, and one before the file's end is skipped.
    """
    head, header, hash_slots, max_entries = file.head, file.header, file.hash_slots, file.max_entries
    states, first_keys, last_key = records.state, records.first_key, len(keys) - 1
    physical_offsets, store_times = records.physical_offset, records.store_timestamp_ms
    while row < len(states):
        if states[row] != INVALID:
            end = first_keys[row + 1]
            if key_row == first_keys[row]:
                if header[INDEX_COUNT] >= max_entries:
                    return row, key_row
                if physical_offsets[row] < header[END_PHYSICAL]:
                    key_row = int(end)
            while key_row < end:
                if header[INDEX_COUNT] >= max_entries:
                    return row, key_row
                prefetch(head, HEADER + SLOT * (keys[min(key_row + AHEAD, last_key)] % hash_slots))
                put_key(file, keys[key_row], physical_offsets[row], store_times[row])
                key_row += 1
        row += 1
        key_row = int(first_keys[row])
    return row, key_row
