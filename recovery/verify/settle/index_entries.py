"""The entries of one index file that are left for the rules, beside the records they point to; and its chains."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from parsers.evidence.mapped import release_pages
from parsers.evidence.spans import written_end
from parsers.index.layout import INDEX_ENTRY
from parsers.index.open import OpenIndex
from parsers.kernels.arrays import Ints, Longs, Mask
from recovery.scan.intervals import found_at
from recovery.verify.findings.finding import Place
from recovery.verify.settle.index_kernel import compare_slots, follow_chains, longest_rise, written_entries
from recovery.verify.settle.log_columns import MessageColumns

FOLDER = "index"
FAULTS_AT_ONCE = 1 << 10
ENTRIES_AT_ONCE = 1 << 20
NONE_STRAY: Longs = np.empty(0, np.int64)


@dataclass(frozen=True, slots=True)
class Chains:
    """What the hashes and the order of all entries of a file ask for, where the file says otherwise.

    Entry `broken[i]` should name `previous[i]`; slot `slots[i]` should hold `newest[i]`; `used` slots hold an entry.
    `strays` do not follow the order of the log, in which a broker puts them.
    Source: IndexService#buildIndex skips what lies before the end of the newest file @3.2.6, 4.9.8, 5.5.1.
    """

    broken: Longs
    previous: Longs
    slots: Longs
    newest: Longs
    used: int
    strays: Longs


@dataclass(frozen=True, slots=True)
class Entries:
    """Entries of one file by `number`, from 1, in rising order, beside the records they point to."""

    number: Longs
    key_hash: Ints
    physical_offset: Longs
    time_diff_s: Ints
    prev_index_no: Ints
    record: Longs
    is_record: Mask

    def __len__(self) -> int:
        return len(self.number)

    @property
    def is_zero(self) -> Mask:
        """Entries that nothing was written into."""
        columns = (self.key_hash, self.physical_offset, self.time_diff_s, self.prev_index_no)
        zero: Mask = np.logical_and.reduce([column == 0 for column in columns])
        return zero


def read_places(file: OpenIndex, numbers: Longs) -> Longs:
    """The physical offsets of these entries."""
    return _entry_columns(file, numbers)[1]


def read_entries(file: OpenIndex, numbers: Longs, messages: MessageColumns) -> Entries:
    """These entries beside the records they point to, as far as `messages` has them."""
    key_hash, physical_offset, time_diff_s, prev_index_no = _entry_columns(file, numbers)
    record, is_record = found_at(messages.physical_offset, physical_offset)
    return Entries(numbers, key_hash, physical_offset, time_diff_s, prev_index_no, record, is_record)


def slots_of(file: OpenIndex, numbers: Longs) -> Longs:
    """The hash slots that these entries belong into. IndexFile#putKey @5.3.3."""
    key_hash = _entry_columns(file, numbers)[0].astype(np.int64)
    return np.where(key_hash >= 0, key_hash % file.slots, 0)


def _entry_columns(file: OpenIndex, numbers: Longs) -> tuple[Ints, Longs, Ints, Ints]:
    if len(numbers):
        view = INDEX_ENTRY.array(file.data.data, at=file.entry_at(1), count=int(numbers.max()))
    else:
        view = np.empty(0, INDEX_ENTRY.dtype)
    columns = (view[name][numbers - 1] for name in ("key_hash", "physical_offset", "time_diff_s", "prev_index_no"))
    key_hash, physical_offset, time_diff_s, prev_index_no = columns
    return (
        key_hash.astype(np.int32),
        physical_offset.astype(np.int64),
        time_diff_s.astype(np.int32),
        prev_index_no.astype(np.int32),
    )


def read_chains(file: OpenIndex, entries: int) -> Chains:
    """Compare the chains of a file of its full size with what its entries ask for."""
    newest = np.zeros(file.slots, np.int32)
    broken, previous, falls = _pairs(newest, file, entries)
    slots, slot, found = np.empty(FAULTS_AT_ONCE, np.int64), 0, 0
    while slot < len(newest):
        slot, found = compare_slots(file.data, slot, newest, slots, found)
        if slot < len(newest):
            slots = np.concatenate((slots, np.empty_like(slots)))
    slots = slots[:found]
    release_pages(file.data, 0, file.entry_at(0))
    strays = strays_of(file, entries) if falls else NONE_STRAY
    return Chains(broken, previous, slots, newest[slots].astype(np.int64), int(np.count_nonzero(newest)), strays)


def strays_of(file: OpenIndex, entries: int, known_wrong: Longs = NONE_STRAY) -> Longs:
    """The fewest entries without which the records of all others, but for those `known_wrong`, follow one another in
    the log."""
    before = np.zeros(entries + 1, np.int32)
    before[known_wrong] = -1
    longest_rise(file.data, file.entry_at(0), np.empty(entries, np.int32), before)
    release_pages(file.data, file.entry_at(0), file.entry_at(entries + 1))
    return 1 + np.flatnonzero(before[1:] >= 0)


def beside_strays(file: OpenIndex, entries: int, strays: Longs) -> Longs:
    """The neighbours of single strays that may be the stray themselves: without either the rest is in order."""
    alone = strays[~np.isin(strays - 1, strays) & ~np.isin(strays + 1, strays)]
    found = [NONE_STRAY]
    for step in (-1, 1):
        around = np.clip(np.stack([alone - step, alone, alone + 2 * step]), 1, max(1, entries))
        own = [read_places(file, numbers) for numbers in around]
        low, high = (own[0], own[2]) if step > 0 else (own[2], own[0])
        beside = alone[(low <= own[1]) & (own[1] <= high)] + step
        found.append(beside[(beside >= 1) & (beside <= entries)])
    return np.unique(np.concatenate(found))


def _pairs(newest: Ints, file: OpenIndex, entries: int) -> tuple[Longs, Longs, bool]:
    """Entries that name another one before them than their hash asks for, and that one; fills `newest`. And whether the
    records of the entries rise."""
    broken, previous = (np.empty(FAULTS_AT_ONCE, np.int64) for _ in range(2))
    number, found, falls = 1, 0, False
    while number <= entries:
        step = min(entries + 1, number + ENTRIES_AT_ONCE)
        reached, found, falls_here = follow_chains(file.data, number, step, newest, broken, previous, found)
        falls |= falls_here
        if found == len(broken):
            broken, previous = (np.concatenate((column, np.empty_like(column))) for column in (broken, previous))
        release_pages(file.data, file.entry_at(number), file.entry_at(reached))
        number = reached
    return broken[:found], previous[:found], falls


def last_written(file: OpenIndex) -> int:
    """The number of the last entry that is not all zero."""
    end = written_end(file.file.path, file.data)
    return written_entries(file.data[: end + INDEX_ENTRY.size], file.slots)


def record_places(records: Longs, messages: MessageColumns) -> list[Place]:
    """Places of records in the log; the file is named by whoever knows the files."""
    return [Place("", int(messages.physical_offset[at]), int(messages.total_size[at])) for at in records.tolist()]


def entry_places(file: OpenIndex, first_entry: int, count: int) -> tuple[Place, ...]:
    """The bytes of entries that follow one another."""
    return (Place(name_of(file), file.entry_at(first_entry), count * INDEX_ENTRY.size),)


def name_of(file: OpenIndex) -> str:
    """The file's path in the store."""
    return f"{FOLDER}/{file.file.path.name}"
