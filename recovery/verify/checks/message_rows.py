"""rocksdbstore against the log: index entries, timers and half messages, and the messages that they lead to.

What a delivered timer or a decided half message leaves no row of is not missed; of the index every message has its
entries, from the first one that has any on, as far as the database notes. Memory: 17 bytes a row, and a batch.
Source: IndexRocksDBStore#buildIndex, IndexRocksDBRecord, TimerRocksDBRecord, TransRocksDBRecord @5.4.0, 5.5.0.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from parsers.commitlog.batches.read import read_commitlog
from parsers.commitlog.record.layout import SYS_FLAG_TRANSACTION
from parsers.damage.errors import Damage, unheard
from parsers.kernels.arrays import Longs
from parsers.layouts.instants import MAX_MS
from parsers.rocksdb.layout import INDEXED_TO
from parsers.rocksdb.message_records import INDEX_KINDS, read_message_rows, read_notes, rows_to_batch
from parsers.store.places import MESSAGE_DATABASE
from parsers.store.store import Store
from parsers.store.store_file import StoreFile
from recovery.rules.dispatch import ROLLBACK
from recovery.scan.intervals import Intervals
from recovery.verify.findings.finding import Finding, Judgement, Place, Span

COLUMNS = ("physical_offset", "total_size", "topic", "sys_flag", "store_timestamp", "keys", "tags", "unique_id")
REAL_TOPIC = "REAL_TOPIC"
"""The property of a half message that has its topic. TransactionalMessageBridge#parseHalfMessageInner @5.4.0."""
NAMED = 5
"""Rows that one finding names."""
NOTE = "noted"
"""The kind of a row that is of no message."""
Row = dict[str, Any]
Entry = tuple[Any, ...]


def check_message_rows(store: Store, log_start: int, log_end: int, lost: Intervals) -> Judgement:
    """Rows that are none, or are not of the message that they lead to; and index entries that are missing.

    Rows of expired messages stay for a while; those of messages that a finding about the log covers follow from it.
    """
    if store.message_database is None:
        return Judgement()
    damage: list[Damage] = []
    rows = _Rows.read(store.message_database, log_start, lost, damage)
    noted = read_notes(store.message_database, damage=damage.append).get(INDEXED_TO, 0)
    first = rows.first_indexed(log_end)
    right = np.zeros(len(rows.places), np.bool_)
    missing = _Missing()
    for message in _messages(store, rows.has_halves) if len(right) or first < noted else ():
        place, entries = message["physical_offset"], _entries(message)
        begin, end = np.searchsorted(rows.places, (place, place + 1))
        marks = rows.marks[begin:end].tolist()
        allowed = {hash(each) for each in (*entries, *_beside_index(message))}
        right[begin:end] = [mark in allowed for mark in marks]
        if first <= place < noted and not damage and not {hash(each) for each in entries} <= set(marks):
            missing.take(place, entries)
    wrong = np.flatnonzero(~right)
    findings = [_finding("message_row_unreadable", [], len(damage), [each.reason for each in damage])] if damage else []
    if len(wrong):
        places = rows.places[wrong].tolist()
        named = zip(places[:NAMED], rows.marks[wrong[:NAMED]].tolist(), strict=True)
        shown = _shown(store.message_database, set(named))
        findings.append(_finding("message_row_wrong", [places[0], places[-1]], len(wrong), shown))
    if missing.count:
        findings.append(_finding("message_row_missing", missing.places, missing.count, missing.said))
    return Judgement(tuple(findings))


@dataclass(frozen=True, slots=True)
class _Rows:
    """The rows by the message that they lead to: its place, and a mark of all else that a row says of it."""

    places: Longs
    marks: Longs
    is_entry: npt.NDArray[np.bool_]
    has_halves: bool

    @classmethod
    def read(cls, file: StoreFile, log_start: int, lost: Intervals, damage: list[Damage]) -> _Rows:
        """Those that `damage` does not take, of messages that are neither expired nor lost."""
        has_halves = False
        columns = [(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.bool_))]
        for read in read_message_rows(file, damage=damage.append):
            rows = [row for row in read if row["kind"] != NOTE]
            places = np.array([row["physical_offset"] for row in rows], np.int64)
            marks = np.array([hash(_said(row)) for row in rows], np.int64)
            is_entry = np.array([_is_entry(row) for row in rows], np.bool_)
            has_halves |= any(row["kind"] == "half" for row in rows)
            kept = ~((places >= 0) & (places < log_start)) & ~lost.hold(places)
            columns.append((places[kept], marks[kept], is_entry[kept]))
        places, marks, is_entry = (np.concatenate(column) for column in zip(*columns, strict=True))
        order = np.argsort(places, kind="stable")
        return cls(places[order], marks[order], is_entry[order], has_halves)

    def first_indexed(self, log_end: int) -> int:
        """The first message that has an index entry; the log's end where none has."""
        at = np.flatnonzero(self.is_entry)
        return int(self.places[at[0]]) if len(at) else log_end


class _Missing:
    """Messages without all their index entries."""

    def __init__(self) -> None:
        self.count = 0
        self.places: list[int] = []
        self.said: list[str] = []

    def take(self, place: int, entries: set[Entry]) -> None:
        self.count += 1
        self.places = [*self.places[:1], place]
        if len(self.said) < NAMED:
            self.said.append(f"message at {place}: {sorted(map(str, entries))}")


def _messages(store: Store, has_halves: bool) -> Iterator[Row]:
    columns = [*COLUMNS, *(["properties"] if has_halves else [])]
    for batch in read_commitlog(store, columns=columns, damage=unheard):
        stored_ms = pc.divide(batch["store_timestamp"].cast(pa.int64()), 1000)
        yield from batch.set_column(COLUMNS.index("store_timestamp"), "store_timestamp", stored_ms).to_pylist()


def _entries(message: Row) -> set[Entry]:
    """What the index entries say that a broker makes of a message."""
    unique, topic = message["unique_id"], message["topic"]
    if not unique or not topic or message["sys_flag"] & SYS_FLAG_TRANSACTION == ROLLBACK:
        return set()
    keys = {("key", key) for key in (message["keys"] or "").split(" ") if key}
    tags = {("tag", message["tags"])} if message["tags"] else set()
    return {(*each, topic, unique, message["store_timestamp"]) for each in (*keys, *tags, ("unique_key", None))}


def _beside_index(message: Row) -> Iterator[Entry]:
    """What a timer's row, and that of a half message, say of a message."""
    size, unique = message["total_size"], message["unique_id"]
    yield "timer", size, unique
    for each in message.get("properties") or ():
        if each["name"] == REAL_TOPIC:
            yield "half", size, unique, each["value"]


def _said(row: Row) -> Entry:
    """What a row says of its message, but for the place."""
    if _is_entry(row):
        stored_ms = row["store_time"] if abs(row["store_time"]) <= MAX_MS else None  # as the column of the log has it
        return row["kind"], row["key"], row["topic"], row["unique_key"], stored_ms
    topic = (row["topic"],) if row["kind"] == "half" else ()
    return row["kind"], row["msg_size"], row["unique_key"], *topic


def _is_entry(row: Row) -> bool:
    return row["kind"] in INDEX_KINDS.values()


def _shown(file: StoreFile, wanted: Collection[tuple[int, int]]) -> list[str]:
    """The rows of these places and marks, in words, in the order of the database."""
    rows = (row for read in read_message_rows(file, damage=unheard) for row in read if row["kind"] != NOTE)
    found = (row for row in rows if (row["physical_offset"], hash(_said(row))) in wanted)
    shown = rows_to_batch(list(islice(found, NAMED))).to_pylist()
    return [str({name: value for name, value in row.items() if value is not None}) for row in shown]


def _finding(kind: str, places: Sequence[int], count: int, said: Sequence[str]) -> Finding:
    """`places`: the first and the last message."""
    span = Span(physical_offset=int(places[0]), end_physical_offset=int(places[-1]) + 1) if len(places) else Span()
    return Finding(kind, span, (Place(MESSAGE_DATABASE, 0, 0),), count, tuple(said[:NAMED]))
