"""What is done with any bytes as what other programs keep for a broker: segments of a tiered store, rows of a RocksDB
database."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from unittest.mock import patch

from parsers.consumequeue.layout import CQ_UNIT
from parsers.damage.errors import report
from parsers.layouts.layout import Field, Layout
from parsers.rocksdb import tables
from parsers.rocksdb.database import Database, Pair
from parsers.rocksdb.layout import OFFSETS_FAMILY, UNITS_FAMILY
from parsers.rocksdb.queue_table import QueueTable
from parsers.rocksdb.queue_units import queue_ends, summarize, units_to_batches
from parsers.store.store import open_store
from parsers.tiered.metadata import Segment, TieredMetadata, segment_name
from parsers.values.java import LONG_MAX, LONG_MIN
from recovery.tiered.queues import tiered_queues
from tests.support.files import Seen, put

ROW = Layout(
    "Row of a database, as the fuzzer writes it",
    "tests/fuzz/foreign_harness.py",
    Field("family", "b", "its number in FAMILIES"),
    Field("key_size", "h", "bytes of the key, which follows"),
    Field("value_size", "h", "bytes of the value, which follows the key"),
)
FAMILIES = (UNITS_FAMILY, OFFSETS_FAMILY, tables.VERSIONS_FAMILY)
CLUSTER, PATH = "0_c", "b/T/0"


def read_segment_of(kind: str, sound: Mapping[str, bytes]) -> Callable[[bytes, Path], None]:
    """Take bytes as the segment of one kind of a queue; that of the other kind is sound, as are the broker's own log
    and queue."""

    def read(content: bytes, folder: Path) -> None:
        parts = {**sound, kind: content}
        put(folder / "store", f"commitlog/{0:020d}", sound["COMMIT_LOG"])
        put(folder / "store", f"consumequeue/{PATH.removeprefix('b/')}/{0:020d}", sound["CONSUME_QUEUE"])
        for each, data in parts.items():
            place = folder / CLUSTER / PATH / each / segment_name(0)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
        segments = tuple(Segment(PATH, each, 0, len(parts[each])) for each in sorted(parts))
        metadata, seen = TieredMetadata({("T", 0): 0}, segments), Seen()
        (told,) = tiered_queues(open_store(folder / "store"), metadata, folder, seen)
        assert told.handed_to == len(parts["CONSUME_QUEUE"]) // CQ_UNIT.size
        assert told.found == len(segments)
        assert (told.wrong or 0) <= told.handed_to
        assert content != sound[kind] or told.equal == told.handed_to

    return read


class Rows:
    """Bytes as the rows of a database, in the order of their keys; what `Database` is to its readers."""

    def __init__(self, content: bytes, folder: Path) -> None:
        self.folder, self.families, self.flaws = folder, FAMILIES, list[Exception]()
        self._rows: dict[str, list[Pair]] = {name: [] for name in FAMILIES}
        for family, pair in _rows(content):
            self._rows[family].append(pair)
        for name, pairs in self._rows.items():
            self._rows[name] = sorted(dict(pairs).items())

    def __enter__(self) -> Rows:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def get(self, family: str, key: bytes) -> bytes | None:
        return dict(self._rows[family]).get(key)

    def first_key(self, family: str, at_least: bytes) -> bytes | None:
        return next((key for key, _ in self._rows[family] if key >= at_least), None)

    def pairs(self, family: str, begin: bytes = b"", end: bytes | None = None) -> Iterator[Sequence[Pair]]:
        rows = self._rows[family]
        first = bisect_left(rows, (begin, b""))
        found = [pair for pair in rows[first:] if end is None or pair[0] < end]
        if found:
            yield found


def _rows(content: bytes) -> Iterator[tuple[str, Pair]]:
    at = 0
    while at + ROW.size <= len(content):
        head, at = ROW.unpack(content, at), at + ROW.size
        behind = at + max(0, head["key_size"])
        pair = content[at:behind], content[behind : behind + max(0, head["value_size"])]
        at = behind + len(pair[1])
        yield FAMILIES[head["family"] % len(FAMILIES)], pair


def row_bytes(family: int, key: bytes, value: bytes) -> bytes:
    """One row as `Rows` reads it."""
    return ROW.pack({"family": family, "key_size": len(key), "value_size": len(value)}) + key + value


def read_queue_rows(content: bytes, folder: Path) -> None:
    """Take bytes as the rows of a database of queues."""
    seen = Seen()
    table = QueueTable(_as_database(Rows(content, folder)), lambda error: report(error, seen))
    for key in table.limits:
        for commitlog_min in (0, 1, LONG_MAX):
            first, end = queue_ends(table, key, commitlog_min)
            told = summarize(table, key, commitlog_min)
            assert (told.min_queue_offset, told.max_queue_offset) == (first, end)
            numbers = first, end, told.max_physical_offset or 0
            assert all(LONG_MIN <= number <= LONG_MAX for number in numbers), numbers
        assert told.units <= sum(batch.num_rows for batch in units_to_batches(table, key))


def read_table_rows(content: bytes, folder: Path) -> None:
    """Take bytes as the rows of a database of tables, in its first form and in its second."""
    for form in ("topics", tables.SECOND_FORM):
        with patch.object(tables, "Database", lambda place: Rows(content, place)):
            for name in tables.KEPT:
                tables.read_table(folder / form, name, damage=Seen())


def _as_database(rows: Rows) -> Database:
    return rows  # type: ignore[return-value]
