"""A full-size IndexFile in seconds: random keys, and some known ones to ask for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from parsers.index.geometry import Geometry
from parsers.index.kernel import ENTRY_SIZE, HEADER_SIZE, PHYSICAL_AT, PREV_AT, SLOT_SIZE, TIME_AT, Bytes, Ints
from parsers.index.layout import ENTRIES_FIRST_NO, INDEX_HEADER
from parsers.values.java import index_key_hash

BEGIN_MS = 1_795_000_000_000
MESSAGE_SIZE = 600
ENTRIES_PER_SECOND = 50_000
ENTRY = np.dtype(
    {
        "names": ["key_hash", "physical_offset", "time_diff_s", "previous"],
        "formats": [">i4", ">i8", ">i4", ">i4"],
        "offsets": [0, PHYSICAL_AT, TIME_AT, PREV_AT],
        "itemsize": ENTRY_SIZE,
    }
)


def write_index(path: Path, geometry: Geometry, keys: Sequence[str]) -> int:
    """Fill a new index to its last entry, and return how many there are; `keys` (as hashed: topic#key) recur in it.

    Entry i is of the message at i * 600 and was stored i // 50 000 seconds after the first. The key is
    keys[i % len(keys)] for every thousandth entry, and a random hash for the others.
    """
    entries = geometry.max_entries - ENTRIES_FIRST_NO
    with path.open("wb") as file:
        file.truncate(geometry.file_size)
    data = np.memmap(path, np.uint8, mode="r+")
    hashes = np.array([index_key_hash(key) for key in keys], np.int32)
    _fill(data, geometry.hash_slots, entries, hashes)
    header = {
        "begin_timestamp_ms": BEGIN_MS,
        "end_timestamp_ms": BEGIN_MS + entries // ENTRIES_PER_SECOND * 1000,
        "begin_physical_offset": ENTRIES_FIRST_NO * MESSAGE_SIZE,
        "end_physical_offset": entries * MESSAGE_SIZE,
        "hash_slot_count": geometry.hash_slots,
        "index_count": entries + ENTRIES_FIRST_NO,
    }
    data[: INDEX_HEADER.size] = np.frombuffer(INDEX_HEADER.pack(header), np.uint8)
    data.flush()
    return entries


def _fill(data: Bytes, hash_slots: int, entries: int, known: Ints) -> None:
    """Entries as a broker puts them one after another: each points to the one before it in its slot."""
    numbers = np.arange(1, entries + 1, dtype=np.int64)
    hashes = np.random.default_rng(88172645463325252).integers(0, 1 << 31, entries)
    hashes[numbers % 1000 == 0] = known[numbers[numbers % 1000 == 0] % len(known)]
    slots = hashes % hash_slots
    order = np.argsort(slots, kind="stable")
    follows = np.flatnonzero(slots[order[1:]] == slots[order[:-1]])
    previous = np.zeros(entries, np.int64)
    previous[order[follows + 1]] = numbers[order[follows]]
    newest = data[HEADER_SIZE : HEADER_SIZE + hash_slots * SLOT_SIZE].view(">i4")
    newest[slots] = numbers  # of several, numpy keeps the last
    units = np.zeros(entries, ENTRY)
    units["key_hash"], units["physical_offset"] = hashes, numbers * MESSAGE_SIZE
    units["time_diff_s"], units["previous"] = numbers // ENTRIES_PER_SECOND, previous
    first = HEADER_SIZE + hash_slots * SLOT_SIZE + ENTRY_SIZE
    data[first : first + units.nbytes] = units.view(np.uint8)
