"""What a broker keeps of messages in rocksdbstore (since 5.4.0): an index, timers, half messages, how far each is.

Every broker of 5.4.0 and later makes this database. Rows are in it with indexRocksDBEnable, timerRocksDBEnable and
transRocksDBEnable. A timer's row goes some time after it was delivered, a half message's when it is decided or given
up.
Source: MessageRocksDBStorage, IndexRocksDBRecord, TimerRocksDBRecord, TransRocksDBRecord @5.4.0, 5.5.0, 5.5.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pyarrow as pa

from parsers.damage.errors import CorruptRecord, DamageSink, StoreFormatError, report
from parsers.layouts.columns import TIMESTAMP, schema_from
from parsers.layouts.instants import instants
from parsers.rocksdb.database import Database, Pair
from parsers.rocksdb.layout import (
    HALF_FAMILY,
    HALF_KEY,
    HALF_VALUE,
    INDEX_FAMILY,
    INDEX_KEY,
    INDEX_KEY_END,
    INDEX_VALUE,
    KEY_PART,
    NOTED,
    NOTES,
    TIMER_FAMILY,
    TIMER_KEY,
    TIMER_VALUE,
)
from parsers.store.store_file import StoreFile
from parsers.values.java import decode_utf8

MESSAGE_RECORD_SCHEMA = schema_from(
    "kind text, topic text, key text, unique_key text, physical_offset i64, msg_size i32, store_time time, "
    "due_time time, check_times i32, value i64"
)
"""`kind`: `key`, `tag` and `unique_key` are index entries; `timer`, `half`, and `noted`, whose `key` is a name and
whose `value` a number."""
INDEX_KINDS = {b"K": "key", b"T": "tag", b"U": "unique_key"}
FAMILIES = (INDEX_FAMILY, TIMER_FAMILY, HALF_FAMILY)
Row = dict[str, Any]


def read_message_records(
    file: StoreFile, families: Sequence[str] = FAMILIES, *, damage: DamageSink | None = None
) -> Iterator[pa.RecordBatch]:
    """The rows of the database `rocksdbstore` (`read_message_rows`) as batches of MESSAGE_RECORD_SCHEMA."""
    return map(rows_to_batch, read_message_rows(file, families, damage=damage))


def read_message_rows(
    file: StoreFile, families: Sequence[str] = FAMILIES, *, damage: DamageSink | None = None
) -> Iterator[list[Row]]:
    """The rows of the database `rocksdbstore`, by column family and key, some at a time; times are epoch ms.

    Rows that are none are damage, as is a database that cannot be read.
    """
    try:
        with Database(file.path) as database:
            for flaw in database.flaws:
                report(flaw, damage)
            for family in (name for name in families if name in database.families):
                for pairs in database.pairs(family):
                    rows, broken = _rows(family, pairs)
                    yield rows
                    for key in broken:
                        problem = f"no row of column family {family}: key {key.hex()}"
                        report(CorruptRecord(problem, path=file.path, field="key"), damage)
    except StoreFormatError as error:
        report(error, damage)


def read_notes(file: StoreFile, *, damage: DamageSink | None = None) -> dict[tuple[str, bytes], int]:
    """How far the column families of `rocksdbstore` are, by NOTES, without what is not noted or cannot be read."""
    found: dict[tuple[str, bytes], int] = {}
    try:
        with Database(file.path) as database:
            for family, key in (note for note in NOTES if note[0] in database.families):
                value = database.get(family, key)
                if value is not None and len(value) == NOTED.size:
                    found[family, key] = NOTED.unpack(value)["value"]
    except StoreFormatError as error:
        report(error, damage)
    return found


def _rows(family: str, pairs: Sequence[Pair]) -> tuple[list[Row], list[bytes]]:
    """The rows of some pairs, and the keys of those that are none."""
    read = READERS[family]
    rows, broken = [], []
    for key, value in pairs:
        row = _noted(key, value) if (family, key) in NOTES else read(key, value)
        if row is None:
            broken.append(key)
        else:
            rows.append(row)
    return rows, broken


def _noted(key: bytes, value: bytes) -> Row | None:
    if len(value) != NOTED.size:
        return None
    return {"kind": "noted", "key": decode_utf8(key), **NOTED.unpack(value)}


def _index_entry(key: bytes, value: bytes) -> Row | None:
    """A key may hold any character; what stands behind its last separator is the unique key."""
    named = key[INDEX_KEY.size : -INDEX_KEY_END.size].split(KEY_PART, 3)
    if len(named) != 4 or named[0] or named[2] not in INDEX_KINDS or len(value) != INDEX_VALUE.size:
        return None
    text, ends, behind = named[3].rpartition(KEY_PART)
    if not ends or behind:
        return None
    own, _, unique = (b"", b"", text) if named[2] == b"U" else text.rpartition(KEY_PART)
    return {
        "kind": INDEX_KINDS[named[2]],
        "topic": decode_utf8(named[1]),
        "key": decode_utf8(own) if named[2] != b"U" else None,
        "unique_key": decode_utf8(unique),
        "store_time": INDEX_VALUE.unpack(value)["store_timestamp_ms"],
        **INDEX_KEY_END.unpack(key, len(key) - INDEX_KEY_END.size),
    }


def _timer(key: bytes, value: bytes) -> Row | None:
    if len(key) < TIMER_KEY.size or len(value) != TIMER_VALUE.size:
        return None
    unique = decode_utf8(key[TIMER_KEY.size :])
    due = TIMER_KEY.unpack(key)["due_ms"]
    return {"kind": "timer", "unique_key": unique, "due_time": due, **TIMER_VALUE.unpack(value)}


def _half(key: bytes, value: bytes) -> Row | None:
    named = key[HALF_KEY.size :].split(KEY_PART)
    if len(named) != 3 or len(value) != HALF_VALUE.size:
        return None
    topic, unique = decode_utf8(named[1]), decode_utf8(named[2])
    return {"kind": "half", "topic": topic, "unique_key": unique, **HALF_KEY.unpack(key), **HALF_VALUE.unpack(value)}


READERS: dict[str, Callable[[bytes, bytes], Row | None]] = {
    INDEX_FAMILY: _index_entry,
    TIMER_FAMILY: _timer,
    HALF_FAMILY: _half,
}


def rows_to_batch(rows: Sequence[Row]) -> pa.RecordBatch:
    """Rows as MESSAGE_RECORD_SCHEMA has them; fields that a row does not have are null."""
    columns = []
    for field in MESSAGE_RECORD_SCHEMA:
        values = [row.get(field.name) for row in rows]
        columns.append(instants(values) if field.type == TIMESTAMP else pa.array(values, field.type))
    return pa.RecordBatch.from_arrays(columns, schema=MESSAGE_RECORD_SCHEMA)
