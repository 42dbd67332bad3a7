"""Whether the index of a store holds tags, which brokers put there since 5.4.0."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

import numpy as np

from parsers.commitlog.record.message import Message
from parsers.index.find import IndexQuery
from parsers.index.layout import INDEX_ENTRY, build_key
from parsers.index.open import OpenIndex, open_index
from parsers.store.store import Store
from parsers.values.java import index_key_hash
from recovery.scan.log_access import LogAccess

ASKED_FILES, ASKED_MESSAGES, NEWEST_ENTRIES = 4, 32, 64


def index_holds_tags(store: Store, sample: Iterable[Message]) -> bool | None:
    """Whether a message that the index knows is there by its tag too; None when nothing tells.

    The oldest are asked, of `sample` (in log order), and the newest that the index has: a broker that was brought to
    5.4.0 or later indexes tags from then on only. A single message without its tag tells nothing: it may be damaged.
    """
    seen = [*islice(_indexed_by_tag(sample, store), ASKED_MESSAGES), *_newest_by_tag(store)]
    without = {physical_offset for physical_offset, by_tag in seen if not by_tag}
    if any(by_tag for _, by_tag in seen):
        return True
    return False if len(without) > 1 else None


def _indexed_by_tag(sample: Iterable[Message], store: Store) -> Iterator[tuple[int, bool]]:
    """Each message with a tag that the index knows by UNIQ_KEY, and whether one of its time is there by the tag too."""
    queries = [IndexQuery([file], on_damage="collect") for file in store.index[:ASKED_FILES]]
    for message in sample:
        tags, unique_id = message.property_value("TAGS"), message.property_value("UNIQ_KEY")
        if not tags or not unique_id:
            continue
        at = message.store_timestamp_ms
        window = {"begin_ms": at - 2000, "end_ms": at + 2000, "max_num": 64}
        for query in queries:
            known = query.find(message.topic, unique_id, **window)
            if any(hit.physical_offset == message.physical_offset for hit in known):
                yield message.physical_offset, bool(query.find(message.topic, f"T#{tags}", **window))


def _newest_by_tag(store: Store) -> list[tuple[int, bool]]:
    """Each message with a tag that the newest entries are of, and whether one of them is its tag's.

    Entries at the end may be of messages that the log has lost: the search goes back in growing steps.
    """
    log = LogAccess(store.commitlog)
    for file in reversed([file for file in open_index(store.index, on_damage="collect") if file.entries]):
        last, step = file.entries, NEWEST_ENTRIES
        while last > 0:
            seen = list(_by_tag(log, file, max(1, last - NEWEST_ENTRIES + 1), last))
            if seen:
                return seen
            last, step = last - step, 2 * step
    return []


def _by_tag(log: LogAccess, file: OpenIndex, first: int, last: int) -> Iterator[tuple[int, bool]]:
    """Each message with a tag that the entries `first` to `last` are of, and whether one of them is its tag's."""
    view = INDEX_ENTRY.array(file.data.data, at=file.entry_at(first), count=last - first + 1)
    for place in np.unique(view["physical_offset"])[1:-1].tolist():  # entries of those at the ends may lie outside
        message = log.message(place)
        tags = message and message.property_value("TAGS")
        if message and tags:
            own = view["key_hash"][view["physical_offset"] == place]
            yield place, index_key_hash(build_key(message.topic, f"T#{tags}")) in own.tolist()
