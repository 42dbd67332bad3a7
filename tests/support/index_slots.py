"""The slots of an IndexFile held against its entries, each slot for itself."""

from __future__ import annotations

import numpy as np

from parsers.index.layout import INDEX_ENTRY, INDEX_HEADER, INDEX_SLOT
from parsers.index.open import OpenIndex


def wrong_slots(opened: OpenIndex) -> list[int]:
    """Where in the file slots are whose newest entry is missing, or belongs into another slot."""
    newest = np.frombuffer(opened.data, ">i4", opened.slots, INDEX_HEADER.size).astype(np.int64)
    used = np.flatnonzero(newest)
    entries_at = INDEX_HEADER.size + opened.slots * INDEX_SLOT.size
    wrong = []
    for slot, entry in zip(used.tolist(), newest[used].tolist(), strict=True):
        held = 0 < entry <= opened.entries
        key_hash = INDEX_ENTRY.unpack(opened.data, entries_at + entry * INDEX_ENTRY.size)["key_hash"] if held else -1
        if key_hash < 0 or key_hash % opened.slots != slot:
            wrong.append(INDEX_HEADER.size + slot * INDEX_SLOT.size)
    return wrong
