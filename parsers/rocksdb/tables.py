"""The broker's tables in databases, as the maps that the JSON files of the same tables hold.

First form (since 5.1.4, with storeType=defaultRocksDB): one database for each table, `config/topics`,
`config/subscriptionGroups`, `config/consumerOffsets`; since 5.4.0, with useSingleRocksDBForAllConfigs, a pair of column
families for each in `config/metadata`. Second form (since 5.3.2, with configManagerVersion=v2): all tables in
`config/rdb`. Source: broker/config/v1/*, broker/config/v2/* @5.3.3, 5.4.0, 5.5.0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from parsers.damage.errors import CorruptRecord, DamageSink, StoreFormatError, report
from parsers.layouts.fastjson import Json, as_map, parse
from parsers.rocksdb.database import Database, Pair
from parsers.rocksdb.layout import NAME_SIZE, OFFSET_KEY_END, SERIALIZED, TABLE_KEY, TABLE_OFFSET, TABLE_VERSION
from parsers.values.java import decode_utf8

OnError = Callable[[StoreFormatError], None]
Content = dict[str, Json]
TABLES_FAMILY, VERSIONS_FAMILY, VERSION_KEY = "default", "kvDataVersion", b"kvDataVersionKey"
SECOND_FORM, SINGLE_FORM = "rdb", "metadata"
VERSION_RECORD, ROW_RECORD, VERSION_NAME = 1, 2, b"data_version"
TABLE_PREFIX = 1
JSON_VALUE = SERIALIZED.pack({"serialization": 1})


class Kept(NamedTuple):
    """Where a table is kept: its database in the first form, its number in the second, its map in the JSON file.

    `family`: its column family in `config/metadata`, to which that of its version adds `Version`.
    `pulled`: number and map of the offsets of pulling, which only the second form has beside.
    """

    folder: str
    table_id: int
    map_name: str
    family: str
    pulled: tuple[int, str] | None = None


KEPT = {
    "topics.json": Kept("topics", 3, "topicConfigTable", "topic"),
    "subscriptionGroup.json": Kept("subscriptionGroups", 4, "subscriptionGroupTable", "subscriptionGroup"),
    "consumerOffset.json": Kept("consumerOffsets", 1, "offsetTable", "consumerOffset", (2, "pullOffsetTable")),
}
"""By the JSON file of the same table."""


def holds(folder: str, json_name: str) -> bool:
    """Whether the database in this folder of config/ may hold the table that is otherwise in the JSON file."""
    return json_name in KEPT and folder in (KEPT[json_name].folder, SECOND_FORM, SINGLE_FORM)


def more_families(folder: Path) -> list[str]:
    """The column families beside the default one, with which 5.2.0 and 5.3.0 do not open the database; none where it
    cannot be read at all."""
    try:
        with Database(folder) as database:
            return [name for name in database.families if name != TABLES_FAMILY]
    except StoreFormatError:
        return []


def read_table(folder: Path, json_name: str, *, damage: DamageSink | None = None) -> Content | None:
    """The table that a database holds, as the JSON file of that name would; None where it has nothing of it.

    Rows that are none are damage, as is a database that cannot be read.
    """
    kept = KEPT[json_name]

    def on_error(error: StoreFormatError) -> None:
        report(error, damage)

    try:
        with Database(folder) as database:
            for flaw in database.flaws:
                on_error(flaw)
            rows = _Rows(database, on_error)
            if folder.name == SECOND_FORM:
                return rows.second_form(kept)
            is_single = folder.name == SINGLE_FORM
            families = (kept.family, f"{kept.family}Version") if is_single else (TABLES_FAMILY, VERSIONS_FAMILY)
            return rows.first_form(kept, *families)
    except StoreFormatError as error:
        on_error(error)
        return None


class _Rows:
    """The rows of an opened database."""

    def __init__(self, database: Database, on_error: OnError) -> None:
        self._database, self._on_error = database, on_error

    def first_form(self, kept: Kept, of_rows: str, of_versions: str) -> Content | None:
        table: Content = {}
        for key, value in self._pairs(of_rows):
            row = self._parsed(key, value)
            of_offsets = kept.pulled is not None
            if row is not None:
                table[decode_utf8(key)] = as_map(row).get(kept.map_name) if of_offsets else row
        versions = dict(self._pairs(of_versions))
        stored = versions.get(VERSION_KEY)
        version = None if stored is None else self._parsed(VERSION_KEY, stored)
        return {kept.map_name: table, "dataVersion": version} if table or version else None

    def second_form(self, kept: Kept) -> Content | None:
        content: Content = {}
        if kept.pulled is None:
            content[kept.map_name] = self._named_rows(kept.table_id)
        else:
            for table_id, map_name in ((kept.table_id, kept.map_name), kept.pulled):
                content[map_name] = self._offsets(table_id)
        version = self._version(kept.table_id)
        return {**content, "dataVersion": version} if version or any(content.values()) else None

    def _named_rows(self, table_id: int) -> Content:
        """Topics or groups: the name in the key, JSON after the kind of serialization in the value."""
        table: Content = {}
        for key, value in self._records(table_id, ROW_RECORD):
            name, end = _name(key, TABLE_KEY.size)
            if name is None or end != len(key) or value[: SERIALIZED.size] != JSON_VALUE:
                self._report("no row of a table", key, value)
            elif (row := self._parsed(key, value[SERIALIZED.size :])) is not None:
                table[name] = row
        return table

    def _offsets(self, table_id: int) -> Content:
        """By `topic@group` the queues, each with the next message."""
        table: dict[str, Content] = {}
        for key, value in self._records(table_id, ROW_RECORD):
            group, end = _name(key, TABLE_KEY.size)
            topic, end = _name(key, end + 1)
            if (
                group is None
                or topic is None
                or len(key) != end + OFFSET_KEY_END.size
                or len(value) != TABLE_OFFSET.size
            ):
                self._report("no offset", key, value)
                continue
            queue_id = OFFSET_KEY_END.unpack(key, end)["queue_id"]
            table.setdefault(f"{topic}@{group}", {})[str(queue_id)] = TABLE_OFFSET.unpack(value)["consumer_offset"]
        return {**table}

    def _version(self, table_id: int) -> Content | None:
        for key, value in self._records(table_id, VERSION_RECORD):
            if key[TABLE_KEY.size :] == VERSION_NAME and len(value) == TABLE_VERSION.size:
                stored = TABLE_VERSION.unpack(value)
                numbers = stored["counter"], stored["timestamp"], stored["state_version"]
                return dict(zip(("counter", "timestamp", "stateVersion"), numbers, strict=True))
            self._report("no version of a table", key, value)
        return None

    def _records(self, table_id: int, record_type: int) -> Iterator[Pair]:
        begin, end = (
            TABLE_KEY.pack({"prefix": TABLE_PREFIX, "table_id": table_id, "record_type": kind})
            for kind in (record_type, record_type + 1)
        )
        return self._pairs(TABLES_FAMILY, begin, end)

    def _pairs(self, family: str, begin: bytes = b"", end: bytes | None = None) -> Iterator[Pair]:
        if family not in self._database.families:
            return
        try:
            for pairs in self._database.pairs(family, begin, end):
                yield from pairs
        except StoreFormatError as error:
            self._on_error(error)

    def _parsed(self, key: bytes, value: bytes) -> Json | None:
        try:
            return parse(value)
        except StoreFormatError as error:
            self._report(error.problem, key, value)
            return None

    def _report(self, problem: str, key: bytes, value: bytes) -> None:
        actual = f"key {decode_utf8(key)[:80]}, value {value[:40].hex()}"
        self._on_error(CorruptRecord(problem, path=self._database.folder, field="row", actual=actual))


def _name(key: bytes, at: int) -> tuple[str | None, int]:
    """The name at a place of a key, and where it ends; None where there is none."""
    if at + NAME_SIZE.size > len(key):
        return None, len(key)
    size, begin = NAME_SIZE.unpack(key, at)["name_size"], at + NAME_SIZE.size
    end = begin + size
    return (decode_utf8(key[begin:end]), end) if 0 <= size <= len(key) - begin else (None, len(key))
