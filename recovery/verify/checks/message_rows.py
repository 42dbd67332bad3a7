"""rocksdbstore against the log: index entries, timers and half messages, and the messages that they lead to.

What a delivered timer or a decided half message leaves no row of is not missed; of the index every message has its
entries, from the first one that has any on, as far as the database notes. Memory: what is read of its rows.
Source: IndexRocksDBStore#buildIndex, IndexRocksDBRecord, TimerRocksDBRecord, TransRocksDBRecord @5.4.0, 5.5.0.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from parsers.commitlog.batches.read import read_commitlog
from parsers.commitlog.record.layout import SYS_FLAG_TRANSACTION
from parsers.damage.errors import Damage
from parsers.rocksdb.layout import INDEXED_TO
from parsers.rocksdb.message_records import INDEX_KINDS, read_message_records, read_notes
from parsers.store.places import MESSAGE_DATABASE
from parsers.store.store import Store
from recovery.rules.dispatch import ROLLBACK
from recovery.scan.intervals import Intervals
from recovery.verify.findings.finding import Finding, Judgement, Place, Span

COLUMNS = ("physical_offset", "total_size", "topic", "sys_flag", "store_timestamp", "keys", "tags", "unique_id")
REAL_TOPIC = "REAL_TOPIC"
"""The property of a half message that has its topic. TransactionalMessageBridge#parseHalfMessageInner @5.4.0."""
NAMED = 5
"""Rows that one finding names."""
Row = dict[str, Any]
Entry = tuple[Any, ...]


def check_message_rows(store: Store, log_start: int, log_end: int, lost: Intervals) -> Judgement:
    """Rows that are none, or are not of the message that they lead to; and index entries that are missing.

    Rows of expired messages stay for a while; those of messages that a finding about the log covers follow from it.
    """
    if store.message_database is None:
        return Judgement()
    damage: list[Damage] = []
    batches = read_message_records(store.message_database, on_damage="collect", damage=damage.append)
    rows: defaultdict[int, list[Row]] = defaultdict(list)
    for row in (row for batch in batches for row in batch.to_pylist()):
        if row["kind"] != "noted" and not _is_covered(row["physical_offset"], log_start, lost):
            rows[row["physical_offset"]].append(row)
    findings = [_finding("message_row_unreadable", [], [each.reason for each in damage])] if damage else []
    indexed = [place for place, of_message in rows.items() if any(_is_entry(row) for row in of_message)]
    first = min(indexed, default=log_end)
    noted = read_notes(store.message_database, on_damage="collect", damage=damage.append).get(INDEXED_TO, 0)
    wrong: list[Row] = []
    missing: list[Row] = []
    has_halves = any(row["kind"] == "half" for of_message in rows.values() for row in of_message)
    for message in _messages(store, has_halves) if rows or first < noted else ():
        place = message["physical_offset"]
        of_message = rows.pop(place, [])
        entries = _entries(message)
        wrong += [row for row in of_message if not _is_of(row, message, entries)]
        if first <= place < noted and entries - set(map(_entry, of_message)) and not damage:
            missing.append(message)
    wrong += [row for of_message in rows.values() for row in of_message]
    findings += [_finding("message_row_wrong", wrong, [str(_shown(row)) for row in wrong])] if wrong else []
    said = [f"message at {each['physical_offset']}: {sorted(map(str, _entries(each)))}" for each in missing]
    findings += [_finding("message_row_missing", missing, said)] if missing else []
    return Judgement(tuple(findings))


def _is_covered(place: int, log_start: int, lost: Intervals) -> bool:
    return 0 <= place < log_start or bool(lost.hold(np.array([place]))[0])


def _messages(store: Store, has_halves: bool) -> Iterator[Row]:
    columns = [*COLUMNS, *(["properties"] if has_halves else [])]
    for batch in read_commitlog(store, columns=columns, on_damage="collect"):
        yield from batch.to_pylist()


def _entries(message: Row) -> set[Entry]:
    """The index entries that a broker makes of a message."""
    unique, topic = message["unique_id"], message["topic"]
    if not unique or not topic or message["sys_flag"] & SYS_FLAG_TRANSACTION == ROLLBACK:
        return set()
    keys = {("key", key) for key in (message["keys"] or "").split(" ") if key}
    tags = {("tag", message["tags"])} if message["tags"] else set()
    return {(*each, topic, unique, message["store_timestamp"]) for each in (*keys, *tags, ("unique_key", None))}


def _entry(row: Row) -> Entry:
    return row["kind"], row["key"], row["topic"], row["unique_key"], row["store_time"]


def _is_entry(row: Row) -> bool:
    return row["kind"] in INDEX_KINDS.values()


def _is_of(row: Row, message: Row, entries: set[Entry]) -> bool:
    if _is_entry(row):
        return _entry(row) in entries
    sent_to = {each["value"] for each in message.get("properties") or () if each["name"] == REAL_TOPIC}
    same = (row["msg_size"], row["unique_key"]) == (message["total_size"], message["unique_id"])
    return same and (row["kind"] != "half" or row["topic"] in sent_to)


def _shown(row: Row) -> Row:
    return {name: value for name, value in row.items() if value is not None}


def _finding(kind: str, rows: Sequence[Row], said: Sequence[str]) -> Finding:
    places = sorted({row["physical_offset"] for row in rows})
    span = Span(physical_offset=places[0], end_physical_offset=places[-1] + 1) if places else Span()
    return Finding(kind, span, (Place(MESSAGE_DATABASE, 0, 0),), len(said), tuple(said[:NAMED]))
