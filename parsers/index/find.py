"""The broker's query by key: newest file first, newest entry first, touching only the key's chain."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat
from typing import NamedTuple

import numpy as np

from parsers.damage.errors import CorruptRecord, DamageSink, OnDamage, StoreFormatError, report
from parsers.index.geometry import Geometry
from parsers.index.kernel import CHAIN_ENDED, CHAIN_LOOPS, index_key_hash, select_entries
from parsers.index.layout import INDEX_ENTRY, build_key
from parsers.index.open import OpenIndex, open_index
from parsers.store.store_file import StoreFile
from parsers.values.java import LONG_MAX, LONG_MIN, utf16_units

MAX_MSGS_NUM_BATCH = 64  # MessageStoreConfig#maxMsgsNumBatch


class IndexHit(NamedTuple):
    """An entry whose key hash and time fit: a message to look at, not yet known to have the key."""

    physical_offset: int
    file: StoreFile
    entry_no: int


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
        on_damage: OnDamage = "raise",
        damage: DamageSink | None = None,
    ) -> None:
        self._on_damage, self._damage = on_damage, damage
        self._cap = max_msgs_num_batch
        opened = open_index(files, geometry=geometry, on_damage=on_damage, damage=damage)
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
        if min(begin_ms, end_ms) < LONG_MIN or max(begin_ms, end_ms) > LONG_MAX:
            raise ValueError(f"times {begin_ms} to {end_ms}: Java's have 64 bits")
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
                report(_broken_chain(opened, ending, last), self._on_damage, self._damage)
            if earlier or found >= wanted:
                break
        return hits


def _broken_chain(opened: OpenIndex, ending: int, last_entry: int) -> StoreFormatError:
    loops = ending == CHAIN_LOOPS
    return CorruptRecord(
        "a chain of index entries that comes back to itself" if loops else "a chain of index entries leaves the file",
        at=opened.entry_at(last_entry),
        field="prev_index_no" if loops else "newest_entry_no",
        path=opened.file.path,
        length=INDEX_ENTRY.size,
    )
