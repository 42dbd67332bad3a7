"""Keys looked up in the index that rocksdbstore keeps, as a broker does that reads no index files.

Source: IndexRocksDBStore#queryOffset, MessageRocksDBStorage#queryOffsetForIndex @5.4.0 - 5.5.1. Not played: without
times a broker looks at maxRocksDBIndexQueryDays alone, which begin at no instant that files tell.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from parsers.rocksdb.database import Database, Pair
from parsers.rocksdb.layout import INDEX_FAMILY, INDEX_KEY, INDEX_KEY_END, INDEX_VALUE, KEY_PART, NOTES

TAG_KEY = "T#"
"""Before a tag that stands for a key (IndexService#buildKey @5.4.0)."""
MOST_HITS = 64
"""MessageStoreConfig#maxMsgsNumBatch."""
HOUR_MS = 3_600_000
AS_JAVA = ("utf-8", "replace")
"""A surrogate alone is a `?`, as String#getBytes makes it."""
BEHIND = bytes([KEY_PART[0] + 1])
"""Stands after every key that goes on with a separator."""


def database_offsets(
    database: Database, topic: str, key: str, *, max_num: int, begin_ms: int, end_ms: int
) -> list[int]:
    """Physical offsets by hour and key: those of a key, without one those of a unique key; `T#…` asks for a tag.

    A key takes those, too, that go on with a separator behind it. Raises StoreFormatError.
    """
    most = min(max_num, MOST_HITS)
    asked = [(b"T", key.removeprefix(TAG_KEY))] if key.startswith(TAG_KEY) else [(b"K", key), (b"U", key)]
    for kind, text in asked:
        name = b"".join((KEY_PART, topic.encode(*AS_JAVA), KEY_PART, kind, KEY_PART, text.encode(*AS_JAVA)))
        found = [*_offsets(database, name, begin_ms, end_ms, most)]
        if found:
            return found
    return []


def _offsets(database: Database, name: bytes, begin_ms: int, end_ms: int, most: int) -> Iterator[int]:
    for hour in _hours(database, max(0, begin_ms), end_ms):
        prefix = INDEX_KEY.pack({"hour_ms": hour}) + name
        for pairs in database.pairs(INDEX_FAMILY, prefix + KEY_PART, prefix + BEHIND):
            for place in _within(pairs, begin_ms, end_ms):
                yield place
                most -= 1
                if most <= 0:
                    return


def _hours(database: Database, begin_ms: int, end_ms: int) -> Iterator[int]:
    """The hours of which the database has entries, from that of `begin_ms` on."""
    hour = begin_ms // HOUR_MS * HOUR_MS
    noted = {key for family, key in NOTES if family == INDEX_FAMILY}
    while hour <= end_ms:
        key = database.first_key(INDEX_FAMILY, INDEX_KEY.pack({"hour_ms": hour}))
        if key is None or key in noted or len(key) < INDEX_KEY.size:
            return
        hour = INDEX_KEY.unpack(key)["hour_ms"]
        if not 0 <= hour <= end_ms:
            return
        yield hour
        hour += 1


def _within(pairs: Sequence[Pair], begin_ms: int, end_ms: int) -> Iterator[int]:
    for key, value in pairs:
        stored = INDEX_VALUE.unpack(value)["store_timestamp_ms"] if len(value) >= INDEX_VALUE.size else None
        if stored is not None and begin_ms <= stored <= end_ms:
            yield INDEX_KEY_END.unpack(key, len(key) - INDEX_KEY_END.size)["physical_offset"]
