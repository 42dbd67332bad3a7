"""Slots and header of an index file that a broker adds entries to, looked at once more by themselves.

A broker writes an entry, then the slot that names it, then the header. So the chain from what a slot holds at one
moment is whole from then on, whatever the broker adds, and a header agrees with its entries at most moments: a second
look separates what only ran ahead from what is wrong. Source: IndexFile#putKey @4.9.7, 5.3.3.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from parsers.damage.errors import unheard
from parsers.index.layout import ENTRIES_FIRST_NO, INDEX_ENTRY, INDEX_HEADER, INDEX_SLOT
from parsers.index.open import OpenIndex, open_index
from parsers.kernels.arrays import Longs
from parsers.store.store import Store
from recovery.verify.findings.finding import Place
from recovery.verify.settle.index_entries import FOLDER

MOMENTS = 1000
"""So often a header is looked at that a broker writes to."""


def right_by_now(store: Store, places: Iterable[Place]) -> set[Place]:
    """Those of these bytes of index files that are right as they are now: slots that hold the chains which the entries
    ask for, and headers that say what the entries do."""
    by_file: defaultdict[str, list[Place]] = defaultdict(list)
    for place in places:
        by_file[place.file].append(place)
    found: set[Place] = set()
    for file in store.index:
        if of_file := by_file.get(f"{FOLDER}/{file.path.name}"):
            for opened in open_index([file], damage=unheard):
                found |= _right_in(opened, of_file)
    return found


def _right_in(opened: OpenIndex, places: Sequence[Place]) -> set[Place]:
    headers = {place for place in places if place.file_pos + place.length <= INDEX_HEADER.size}
    if headers and not _header_agrees(opened):
        headers = set()
    slots = {place: _slots_in(opened, place) for place in places if place.file_pos >= INDEX_HEADER.size}
    right = _right_slots(opened, np.unique([slot for of_place in slots.values() for slot in of_place]).astype(np.int64))
    return headers | {place for place, of_place in slots.items() if of_place and right.issuperset(of_place)}


def _slots_in(opened: OpenIndex, place: Place) -> range:
    """The slots in these bytes; none where they are not all slots."""
    first, count = (place.file_pos - INDEX_HEADER.size) // INDEX_SLOT.size, place.length // INDEX_SLOT.size
    return range(first, first + count) if first + count <= opened.slots else range(0)


def _header_agrees(opened: OpenIndex) -> bool:
    """Whether the header says what the entries do that it counts, in a moment in which the broker left it alone."""
    for _ in range(MOMENTS):
        header = INDEX_HEADER.unpack(opened.data.data)
        count = header["index_count"] - ENTRIES_FIRST_NO
        if not 0 < count <= (len(opened.data) - opened.entry_at(1)) // INDEX_ENTRY.size:
            return False
        last = INDEX_ENTRY.unpack(opened.data.data, opened.entry_at(count))
        seconds = max(0, header["end_timestamp_ms"] - header["begin_timestamp_ms"]) // 1000
        is_last = (last["physical_offset"], last["time_diff_s"]) == (header["end_physical_offset"], seconds)
        if is_last and INDEX_HEADER.unpack(opened.data.data) == header:
            return _counts_slots(opened, header, count)
    return False


def _counts_slots(opened: OpenIndex, header: Mapping[str, int], count: int) -> bool:
    """Whether a header names the first of its entries, and counts the slots in use, or before 4.7.1 the entries."""
    entries = INDEX_ENTRY.array(opened.data.data, at=opened.entry_at(1), count=count)
    used = int(np.count_nonzero(entries["prev_index_no"] == 0))
    begins = int(entries["physical_offset"][0]) == header["begin_physical_offset"]
    return begins and header["hash_slot_count"] in (used, count)


def _right_slots(opened: OpenIndex, slots: Longs) -> set[int]:
    """Those of these slots whose chain has every entry of the slot, up to the one that the slot holds."""
    if not len(slots):
        return set()
    held = INDEX_SLOT.array(opened.data.data, at=INDEX_HEADER.size, count=opened.slots)["newest_entry_no"][slots]
    room = (len(opened.data) - opened.entry_at(1)) // INDEX_ENTRY.size
    entries = INDEX_ENTRY.array(opened.data.data, at=opened.entry_at(1), count=min(room, int(held.max(initial=0))))
    is_asked = np.zeros(opened.slots, np.bool_)
    is_asked[slots] = True
    hashes = entries["key_hash"].astype(np.int64)
    of_entry = np.where(hashes >= 0, hashes % opened.slots, 0)
    numbers = np.flatnonzero(is_asked[of_entry]) + 1
    numbers = numbers[np.argsort(of_entry[numbers - 1], kind="stable")]
    begins, ends = (np.searchsorted(of_entry[numbers - 1], slots, side) for side in ("left", "right"))
    return {
        slot
        for slot, newest, begin, end in zip(*(each.tolist() for each in (slots, held, begins, ends)), strict=True)
        if 0 <= newest <= len(entries)
        and _chain(entries, newest) == numbers[begin:end][numbers[begin:end] <= newest].tolist()
    }


def _chain(entries: npt.NDArray[np.void], newest: int) -> list[int] | None:
    """The numbers of the entries in a chain, the oldest first; None where it does not go back in time."""
    chain, number = list[int](), newest
    while number > 0:
        chain.append(number)
        number = int(entries["prev_index_no"][number - 1])
        if number >= chain[-1]:
            return None
    return chain[::-1]
