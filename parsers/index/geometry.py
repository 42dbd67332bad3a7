"""How many slots and entries an IndexFile has: its size and its chains must say so, for the file itself does not.

Size = 40 + 4 S + 20 N, so one size fits many pairs. A pair is taken only if the entries lie in the chains it implies.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from parsers.evidence.mapped import release_pages
from parsers.index.kernel import PROOF_ENTRIES, Bytes, proven_slot_counts, proves
from parsers.index.layout import ENTRIES_FIRST_NO, INDEX_ENTRY, INDEX_HEADER, INDEX_SLOT

THOROUGH_ENTRIES = 1 << 16
MAX_CANDIDATES = 64
CANDIDATES_AT_ONCE = 1 << 22
WORDS_PER_ENTRY = INDEX_ENTRY.size // INDEX_SLOT.size


class Geometry(NamedTuple):
    """S and N: `maxHashSlotNum` and `maxIndexNum` of the broker that made the file."""

    hash_slots: int
    max_entries: int

    @property
    def entries_at(self) -> int:
        """Byte where entry 0 (never used) lies."""
        return INDEX_HEADER.size + self.hash_slots * INDEX_SLOT.size

    @property
    def file_size(self) -> int:
        return self.entries_at + self.max_entries * INDEX_ENTRY.size


DEFAULT_GEOMETRY = Geometry(5_000_000, 20_000_000)  # MessageStoreConfig#maxHashSlotNum, #maxIndexNum


class Inference(NamedTuple):
    """A geometry, or None with the reason why it stays unknown."""

    geometry: Geometry | None
    reason: str


def infer_geometry(data: Bytes, likely: Sequence[Geometry] = (), *, written: int | None = None) -> Inference:
    """The geometry of one file's bytes. Tried in order: `likely` ones, the default, every pair that fits the size.

    A file without entries proves nothing: it gets a likely geometry, or the default, only by having its exact size. A
    likely geometry whose chains are proven holds for a file cut short, too.

    Args:
        written: a position after which every byte is zero (`extents.data_end`), so that none of it need be looked at.
    """
    if len(data) < INDEX_HEADER.size:
        return Inference(None, f"{len(data)} bytes are less than a header")
    header = INDEX_HEADER.unpack(data.data)
    entries = header["index_count"] - ENTRIES_FIRST_NO
    guesses = (*likely, DEFAULT_GEOMETRY)
    if entries < 1:
        fitting = [guess for guess in guesses if guess.file_size == len(data)]
        return Inference(fitting[0], "by its size") if fitting else Inference(None, "it holds no entries to tell by")
    for guess in guesses:
        if entries < guess.max_entries and proves(data, guess.hash_slots, entries, PROOF_ENTRIES):
            return Inference(guess, "by its chains")
    return _by_search(data, entries, header["end_physical_offset"], len(data) if written is None else written)


def _by_search(data: Bytes, entries: int, end_physical_offset: int, written: int) -> Inference:
    words, rest = divmod(len(data) - INDEX_HEADER.size, INDEX_SLOT.size)
    if rest:
        return Inference(None, f"a size of {len(data)} bytes fits no number of slots and entries")
    candidates = _candidates(data, entries, end_physical_offset, written if end_physical_offset else len(data))
    proven = [slots for slots in candidates if proves(data, slots, entries, THOROUGH_ENTRIES)]
    if len(proven) == 1:
        return Inference(Geometry(proven[0], (words - proven[0]) // WORDS_PER_ENTRY), "by its chains")
    if proven:
        return Inference(None, f"{len(proven)} numbers of slots fit its chains")
    return Inference(None, "no number of slots fits its size and its chains")


def _candidates(data: Bytes, entries: int, end_physical_offset: int, written: int) -> list[int]:
    """Slot counts whose chains hold, those that put the last entry after `written` left out; at most MAX_CANDIDATES.

    The more entries a file is for, the further in front its last one lies: so the pages that were looked at can go.
    """
    words = (len(data) - INDEX_HEADER.size) // INDEX_SLOT.size
    last_at_without_room = INDEX_HEADER.size + words * INDEX_SLOT.size + entries * INDEX_ENTRY.size
    first = max(entries, (last_at_without_room - written) // INDEX_ENTRY.size) + 1
    found = np.empty(MAX_CANDIDATES, np.int64)
    count, end = 0, (words - 1) // WORDS_PER_ENTRY + 1
    for most in range(first, end, CANDIDATES_AT_ONCE):
        stop = min(end, most + CANDIDATES_AT_ONCE)
        count += proven_slot_counts(data, entries, end_physical_offset, most, stop, found[count:])
        if count == MAX_CANDIDATES:
            break
        release_pages(data, max(0, last_at_without_room - stop * INDEX_ENTRY.size), len(data))
    return [int(slots) for slots in found[:count]]
