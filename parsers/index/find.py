"""The broker's query by key: newest file first, newest entry first, touching only the key's chain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import repeat
from typing import NamedTuple

import numpy as np

from parsers.damage.errors import CorruptRecord, DamageSink, StoreFormatError, report
from parsers.index.geometry import Geometry
from parsers.index.kernel import (
    CHAIN_ENDED,
    CHAIN_LOOPS,
    KeyHits,
    Longs,
    hash_keys,
    index_key_hash,
    select_entries,
    select_for_keys,
)
from parsers.index.layout import INDEX_ENTRY, build_key
from parsers.index.open import OpenIndex, open_index
from parsers.store.store_file import StoreFile
from parsers.values.java import LONG_MAX, LONG_MIN, string_hash_code, utf16_units
from parsers.values.java import index_key_hash as java_key_hash

MAX_MSGS_NUM_BATCH = 64  # MessageStoreConfig#maxMsgsNumBatch
KEYS_AT_ONCE = 1 << 12


class IndexHit(NamedTuple):
    """An entry whose key hash and time fit: a message to look at, not yet known to have the key."""

    physical_offset: int
    file: StoreFile
    entry_no: int


class KeyEntries(NamedTuple):
    """Entries that keys lead to: `key` is a row of the keys asked for, `file` one of `IndexQuery.newest_first`."""

    key: Longs
    physical_offset: Longs
    file: Longs
    entry_no: Longs


class IndexQuery:
    """A store's index files, opened once for many questions.

    A file whose geometry stays unknown, or that the system refuses, is reported and left out.
    """

    def __init__(
        self,
        files: Sequence[StoreFile],
        *,
        geometry: Geometry | None = None,
        max_msgs_num_batch: int = MAX_MSGS_NUM_BATCH,
        damage: DamageSink | None = None,
    ) -> None:
        self._damage = damage
        self._cap = max_msgs_num_batch
        opened = open_index(files, geometry=geometry, damage=damage)
        self._newest_first = [(found, found.slots) for found in reversed(opened) if found.geometry is not None]
        self._places, self._entry_nos = np.empty(self._cap, np.int64), np.empty(self._cap, np.int64)

    def find(
        self, topic: str, key: str, *, max_num: int = 32, begin_ms: int = 0, end_ms: int = LONG_MAX
    ) -> list[IndexHit]:
        """Entries for `topic#key` with a store time in [begin_ms, end_ms], at most `max_num`, newest first.

        As in the broker: other keys of the same hash are among them, times are truncated to seconds after the file's
        first, and `max_num` is capped by maxMsgsNumBatch. A chain that loops or leaves its file ends there, and is
        reported.
        Source: store/index/IndexService.java#queryOffset, IndexFile.java#selectPhyOffset @5.3.3.
        """
        _require_longs(begin_ms, end_ms)
        key_hash = index_key_hash(np.frombuffer(utf16_units(build_key(topic, key)), np.uint8))
        places, entry_nos, found, wanted = self._places, self._entry_nos, 0, min(max_num, self._cap)
        hits: list[IndexHit] = []
        for opened, slots in self._newest_first:
            found, ending, last, earlier = select_entries(
                opened.data, slots, key_hash, begin_ms, end_ms, places, entry_nos, found, wanted
            )
            new = slice(len(hits), found)
            hits += map(IndexHit, places[new].tolist(), repeat(opened.file), entry_nos[new].tolist())
            if ending != CHAIN_ENDED:
                report(_broken_chain(opened, ending, last), self._damage)
            if earlier or found >= wanted:
                break
        return hits

    @property
    def newest_first(self) -> list[StoreFile]:
        """The files that are asked, in this order."""
        return [opened.file for opened, _ in self._newest_first]

    def find_all(
        self, topic: str, keys: Sequence[str], *, max_num: int = 32, begin_ms: int = 0, end_ms: int = LONG_MAX
    ) -> Iterator[KeyEntries]:
        """What `find` gives for each of many keys, key by key, without an object for each entry.

        Memory: KEYS_AT_ONCE keys with `max_num` entries each.
        """
        _require_longs(begin_ms, end_ms)
        hits = _room(KEYS_AT_ONCE, max(0, min(max_num, self._cap)))
        for first in range(0, len(keys), KEYS_AT_ONCE):
            hashes = _hashes_of(topic, keys[first : first + KEYS_AT_ONCE])
            hits.found[:] = 0
            self._select(hashes, begin_ms, end_ms, hits)
            yield _by_key(hits, len(hashes), first)

    def _select(self, hashes: Longs, begin_ms: int, end_ms: int, hits: KeyHits) -> None:
        """Ask file by file; broken chains are reported key by key."""
        broken: list[tuple[int, int, StoreFormatError]] = []
        for number, (opened, slots) in enumerate(self._newest_first):
            select_for_keys(opened.data, slots, hashes, begin_ms, end_ms, number, hits)
            for row in np.flatnonzero(hits.ending[: len(hashes)] != CHAIN_ENDED).tolist():
                error = _broken_chain(opened, int(hits.ending[row]), int(hits.last[row]))
                broken.append((row, number, error))
            if opened.header["begin_timestamp_ms"] < begin_ms:
                break
        for _, _, error in sorted(broken, key=lambda told: told[:2]):
            report(error, self._damage)


def _room(keys: int, wanted: int) -> KeyHits:
    shape = keys, wanted
    by_key = (np.empty(shape, np.int64) for _ in range(3))
    return KeyHits(*by_key, *(np.zeros(keys, np.int64) for _ in range(3)))


def _by_key(hits: KeyHits, keys: int, first: int) -> KeyEntries:
    """What was found for so many keys, of which that in row 0 is key `first`."""
    found = hits.found[:keys]
    is_found = np.arange(hits.places.shape[1]) < found[:, None]
    key = first + np.repeat(np.arange(keys), found)
    return KeyEntries(key, *(column[:keys][is_found] for column in (hits.places, hits.files, hits.entry_nos)))


def _require_longs(begin_ms: int, end_ms: int) -> None:
    if min(begin_ms, end_ms) < LONG_MIN or max(begin_ms, end_ms) > LONG_MAX:
        raise ValueError(f"times {begin_ms} to {end_ms}: Java's have 64 bits")


def _hashes_of(topic: str, keys: Sequence[str]) -> Longs:
    """The index hash of each key of a topic; that of a key that UTF-8 cannot hold by the scalar rule."""
    texts = [key.encode("utf-8", "surrogatepass") for key in keys]
    ends = np.cumsum([0, *map(len, texts)])
    hashes = np.empty(len(keys), np.int64)
    seed = string_hash_code(build_key(topic, "")) & 0xFFFFFFFF
    hash_keys(np.frombuffer(b"".join(texts), np.uint8), ends, seed, hashes)
    for row in np.flatnonzero(hashes < 0).tolist():
        hashes[row] = java_key_hash(build_key(topic, keys[row]))
    return hashes


def _broken_chain(opened: OpenIndex, ending: int, last_entry: int) -> StoreFormatError:
    loops = ending == CHAIN_LOOPS
    return CorruptRecord(
        "a chain of index entries that comes back to itself" if loops else "a chain of index entries leaves the file",
        at=opened.entry_at(last_entry),
        field="prev_index_no" if loops else "newest_entry_no",
        path=opened.file.path,
        length=INDEX_ENTRY.size,
    )
