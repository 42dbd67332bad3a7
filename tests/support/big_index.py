"""A full-size IndexFile in seconds: random keys, and some known ones to ask for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from parsers.index.geometry import Geometry
from parsers.index.kernel import ENTRY_SIZE, HEADER_SIZE, PHYSICAL_AT, PREV_AT, SLOT_SIZE, TIME_AT, Bytes, Ints
from parsers.index.layout import ENTRIES_FIRST_NO, INDEX_HEADER
from parsers.kernels.bigendian import load_int, store_int, store_long
from parsers.kernels.numba_cache import cached_njit
from parsers.values.java import index_key_hash

BEGIN_MS = 1_795_000_000_000
MESSAGE_SIZE = 600
ENTRIES_PER_SECOND = 50_000


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


@cached_njit()
def _fill(data: Bytes, hash_slots: int, entries: int, hashes: Ints) -> None:
    entries_at = HEADER_SIZE + hash_slots * SLOT_SIZE
    state = 88172645463325252
    for number in range(1, entries + 1):
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        key_hash = state & 0x7FFFFFFF
        if number % 1000 == 0:
            key_hash = int(hashes[number % len(hashes)])
        at = entries_at + number * ENTRY_SIZE
        slot_at = HEADER_SIZE + key_hash % hash_slots * SLOT_SIZE
        store_int(data, at, key_hash)
        store_long(data, at + PHYSICAL_AT, number * MESSAGE_SIZE)
        store_int(data, at + TIME_AT, number // ENTRIES_PER_SECOND)
        store_int(data, at + PREV_AT, load_int(data, slot_at))
        store_int(data, slot_at, number)
