"""Compiled passes over IndexFiles: the chain walk of a query, entries to columns, proofs of a geometry.

Source: rocketmq-all-5.3.3, store/index/IndexFile.java#selectPhyOffset, #putKey, #isTimeMatched; IndexHeader#load.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from parsers.index.layout import INDEX_ENTRY, INDEX_HEADER, INDEX_SLOT
from parsers.kernels.arrays import LongRows
from parsers.kernels.bigendian import load_int, load_long
from parsers.kernels.blocks import prefetch
from parsers.kernels.java_hash import hash_utf8, index_hash
from parsers.kernels.kernel import kernel

Bytes: TypeAlias = npt.NDArray[np.uint8]
Longs: TypeAlias = npt.NDArray[np.int64]
Ints: TypeAlias = npt.NDArray[np.int32]

HEADER_SIZE, SLOT_SIZE, ENTRY_SIZE = INDEX_HEADER.size, INDEX_SLOT.size, INDEX_ENTRY.size
BEGIN_AT, END_AT = INDEX_HEADER.offsets["begin_timestamp_ms"], INDEX_HEADER.offsets["end_timestamp_ms"]
COUNT_AT = INDEX_HEADER.offsets["index_count"]
PHYSICAL_AT = INDEX_ENTRY.offsets["physical_offset"]
TIME_AT = INDEX_ENTRY.offsets["time_diff_s"]
PREV_AT = INDEX_ENTRY.offsets["prev_index_no"]

CHAIN_ENDED, CHAIN_LOOPS, CHAIN_LEAVES_FILE = 0, 1, 2
PROOF_ENTRIES = 16
KEYS_ABREAST, LINKS_AHEAD = 64, 6
"""So many links of so many chains are asked for side by side, before the chains are walked one after another."""


class EntryColumns(NamedTuple):
    """One row for each entry; `slot` is key_hash modulo the file's slots."""

    entry_no: Ints
    key_hash: Ints
    physical_offset: Longs
    time_diff_s: Ints
    prev_index_no: Ints
    slot: Ints


@kernel
def index_key_hash(utf16_units: Bytes) -> int:
    """IndexFile#indexKeyHashMethod over big-endian UTF-16; the compiled twin of java.index_key_hash."""
    value = np.uint32(0)
    for at in range(0, len(utf16_units) - 1, 2):
        unit = np.uint32(utf16_units[at]) << np.uint32(8) | np.uint32(utf16_units[at + 1])
        value = np.uint32(value * np.uint32(31) + unit)
    signed = int(np.int32(value))
    return 0 if signed == -(2**31) else abs(signed)


@kernel
def select_entries(
    data: Bytes,
    hash_slots: int,
    key_hash: int,
    begin_ms: int,
    end_ms: int,
    places: Longs,
    entry_nos: Longs,
    found: int,
    wanted: int,
) -> tuple[int, int, int, bool]:
    """IndexFile#selectPhyOffset after #isTimeMatched: append to `places` from `found` on, newest first.

    Returns (found, how the chain ended, last entry read, whether the file begins before `begin_ms`). Where Java would
    go round a loop of links for ever, the walk ends with CHAIN_LOOPS (Brent's tortoise, so in linear time).

    Nine arguments: a record of them, or views of the free places, make the search for one key slower by 10 to 19 %.
    """
    file_begin, file_end = load_long(data, BEGIN_AT), load_long(data, END_AT)
    earlier = file_begin < begin_ms
    matched = (begin_ms < file_begin) & (end_ms > file_end)
    matched |= (begin_ms >= file_begin) & (begin_ms <= file_end)
    matched |= (end_ms >= file_begin) & (end_ms <= file_end)
    count = load_int(data, COUNT_AT)
    slot_at = HEADER_SIZE + key_hash % hash_slots * SLOT_SIZE
    if not matched or count <= 1:
        return found, CHAIN_ENDED, 0, earlier
    if slot_at + SLOT_SIZE > len(data):
        return found, CHAIN_LEAVES_FILE, 0, earlier
    entry = load_int(data, slot_at)
    if entry <= 0 or entry > count:
        return found, CHAIN_ENDED, 0, earlier
    entries_at = HEADER_SIZE + hash_slots * SLOT_SIZE
    tortoise, hops, limit = 0, 0, 2
    while found < wanted:
        at = entries_at + entry * ENTRY_SIZE
        if at + ENTRY_SIZE > len(data):
            return found, CHAIN_LEAVES_FILE, entry, earlier
        time_diff_s = load_int(data, at + TIME_AT)
        if time_diff_s < 0:
            break
        time_ms = file_begin + time_diff_s * 1000
        if load_int(data, at) == key_hash and begin_ms <= time_ms <= end_ms:
            places[found] = load_long(data, at + PHYSICAL_AT)
            entry_nos[found] = entry
            found += 1
        older = load_int(data, at + PREV_AT)
        if older <= 0 or older > count or older == entry or time_ms < begin_ms:
            break
        if older == tortoise:
            return found, CHAIN_LOOPS, entry, earlier
        entry = older
        hops += 1
        if hops == limit:
            tortoise, hops, limit = entry, 0, limit * 2
    return found, CHAIN_ENDED, entry, earlier


class KeyHits(NamedTuple):
    """What was found for each key: a row a key. `found[row]` of its places are filled, each with its entry and file.

    `ending` and `last` say how its chain ended in the file looked at last: see `select_entries`.
    """

    places: LongRows
    entry_nos: LongRows
    files: LongRows
    found: Longs
    ending: Longs
    last: Longs


@kernel
def hash_keys(texts: Bytes, ends: Longs, seed: int, hashes: Longs) -> None:
    """`index_key_hash` of the text that `seed` is the hash of, followed by each of the texts (UTF-8) that end there."""
    for row in range(len(hashes)):
        hashes[row] = index_hash(hash_utf8(texts, ends[row], ends[row + 1], seed))


@kernel
def ask_for_chains(data: Bytes, hash_slots: int, key_hashes: Longs, links: Longs) -> None:
    """Ask for the cache lines that the first entries of some chains lie in; `links` is room for an entry of each."""
    entries_at, last_slot = HEADER_SIZE + hash_slots * SLOT_SIZE, len(data) - SLOT_SIZE
    for row in range(len(key_hashes)):
        prefetch(data, HEADER_SIZE + key_hashes[row] % hash_slots * SLOT_SIZE)
    for row in range(len(key_hashes)):
        slot_at = HEADER_SIZE + key_hashes[row] % hash_slots * SLOT_SIZE
        links[row] = load_int(data, slot_at) if slot_at <= last_slot else 0
        prefetch(data, entries_at + links[row] * ENTRY_SIZE)
    for _ in range(LINKS_AHEAD):
        for row in range(len(key_hashes)):
            at = entries_at + links[row] * ENTRY_SIZE
            if links[row] > 0 and at + ENTRY_SIZE <= len(data):
                links[row] = load_int(data, at + PREV_AT)
                prefetch(data, entries_at + links[row] * ENTRY_SIZE)


@kernel
def select_for_keys(
    data: Bytes, hash_slots: int, key_hashes: Longs, begin_ms: int, end_ms: int, file: int, hits: KeyHits
) -> None:
    """`select_entries` of one file for each key that wants more. How a chain ended is set last, so there is room."""
    places, entry_nos, files, found, ending, last = hits
    wanted = places.shape[1]
    for row in range(len(key_hashes)):
        if row % KEYS_ABREAST == 0:
            abreast = slice(row, min(row + KEYS_ABREAST, len(key_hashes)))
            ask_for_chains(data, hash_slots, key_hashes[abreast], ending[abreast])
        ending[row], before = CHAIN_ENDED, found[row]
        if before < wanted:
            found[row], ending[row], last[row], _ = select_entries(
                data, hash_slots, key_hashes[row], begin_ms, end_ms, places[row], entry_nos[row], before, wanted
            )
            for number in range(before, found[row]):
                files[row, number] = file


@kernel
def decode_entries(data: Bytes, hash_slots: int, first_no: int, end_no: int, columns: EntryColumns) -> int:
    """Fill the columns from entries `first_no` to before `end_no`, leaving out impossible ones; returns the rows."""
    entry_no, key_hash, physical_offset, time_diff_s, prev_index_no, slot = columns
    row = 0
    entries_at = HEADER_SIZE + hash_slots * SLOT_SIZE
    for number in range(first_no, end_no):
        at = entries_at + number * ENTRY_SIZE
        hashed, place = load_int(data, at), load_long(data, at + PHYSICAL_AT)
        seconds, older = load_int(data, at + TIME_AT), load_int(data, at + PREV_AT)
        entry_no[row] = number
        key_hash[row] = hashed
        physical_offset[row] = place
        time_diff_s[row] = seconds
        prev_index_no[row] = older
        slot[row] = np.uint32(hashed) % np.uint32(hash_slots)
        row += int((hashed >= 0) & (place >= 0) & (seconds >= 0) & (older >= 0) & (older < number))
    return row


@kernel
def proves(data: Bytes, hash_slots: int, entries: int, checked: int) -> bool:
    """Whether the first, and the last `checked`, of `entries` entries lie in chains of `hash_slots` slots.

    The last entry must be its slot's newest; of any other, the slot's newest is not older and belongs to that slot.
    """
    entries_at = HEADER_SIZE + hash_slots * SLOT_SIZE
    if entries < 1 or entries_at + (entries + 1) * ENTRY_SIZE > len(data):
        return False
    oldest = max(1, entries - checked + 1)
    for step in range(entries - oldest + 2):
        number = entries - step if entries - step >= oldest else 1
        at = entries_at + number * ENTRY_SIZE
        hashed, older = load_int(data, at), load_int(data, at + PREV_AT)
        if hashed < 0 or older < 0 or older >= number:
            return False
        newest = load_int(data, HEADER_SIZE + hashed % hash_slots * SLOT_SIZE)
        if newest < number or newest > entries:
            return False
        newest_hash = load_int(data, entries_at + newest * ENTRY_SIZE)
        if newest_hash < 0 or newest_hash % hash_slots != hashed % hash_slots:
            return False
    return True


@kernel
def proven_slot_counts(
    data: Bytes, entries: int, end_physical_offset: int, first_most: int, end_most: int, found: Longs
) -> int:
    """Slot counts S for which 40 + 4 S + 20 N is the file's size, the last entry is the header's, and `proves` holds.

    Tries N from `first_most` to before `end_most`, each greater than `entries` and leaving room for a slot. Fills
    `found` and returns how many there are (at most len(found)).
    """
    words = (len(data) - HEADER_SIZE) // SLOT_SIZE
    words_per_entry = ENTRY_SIZE // SLOT_SIZE
    count = 0
    for max_entries in range(first_most, end_most):
        hash_slots = words - max_entries * words_per_entry
        last_at = HEADER_SIZE + hash_slots * SLOT_SIZE + entries * ENTRY_SIZE
        if load_long(data, last_at + PHYSICAL_AT) == end_physical_offset and proves(
            data, hash_slots, entries, PROOF_ENTRIES
        ):
            found[count] = hash_slots
            count += 1
            if count == len(found):
                break
    return count
