"""One file of config/, its .bak, or the database that takes its place, as the broker would take it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from parsers.damage.errors import CorruptRecord, DamageSink, StoreFormatError, report
from parsers.evidence.mapped import map_file
from parsers.layouts.fastjson import Json, as_map, kind_of, parse, whole_number
from parsers.rocksdb.tables import SECOND_FORM, holds, read_table
from parsers.store.store_file import StoreFile

BACKUP = ".bak"
TIMESTAMP_BEFORE_4 = "timestatmp"
"""So DataVersion of com.alibaba.rocketmq calls it (seen in what 3.2.6 wrote)."""
MERGED_TABLES = ("topicConfigTable", "subscriptionGroupTable")


@dataclass(frozen=True, slots=True)
class DataVersion:
    """`dataVersion` of a file: how often, and when (epoch ms), its content changed. `state_version`: since 5.0.0."""

    counter: int | None
    timestamp: int | None
    state_version: int | None


@dataclass(frozen=True, slots=True)
class Document:
    """The top-level map of a config file, and which file it came from (the .bak, where the main file is no use; the
    database that holds the same table)."""

    file: StoreFile
    content: dict[str, Json]

    @property
    def data_version(self) -> DataVersion:
        stored = as_map(self.content.get("dataVersion"))
        changed = stored.get("timestamp", stored.get(TIMESTAMP_BEFORE_4))
        numbers = (whole_number(value) for value in (stored.get("counter"), changed, stored.get("stateVersion")))
        return DataVersion(*numbers)

    def table(self, name: str) -> dict[str, Json]:
        """A map of the document; empty where there is none of that name."""
        return as_map(self.content.get(name))


def decode_document(file: StoreFile) -> Document | None:
    """One file by itself; None when it is empty. Raises StoreFormatError."""
    buffer = map_file(file.path)
    if not len(buffer):
        return None
    try:
        content = parse(buffer)
    except StoreFormatError as error:
        raise error.in_file(file.path) from None
    if not isinstance(content, dict):
        raise CorruptRecord("a config file holds a map", field="text", actual=kind_of(content), path=file.path)
    return Document(file, content)


def read_document(files: Sequence[StoreFile], name: str, *, damage: DamageSink | None = None) -> Document | None:
    """`config/<name>` of a store's config files, or the database that holds the same table, as the broker would.

    None when nothing gives anything, which the broker takes for an empty state. What is passed over because it cannot
    be read is reported even where another one stands in for it, and a file of 0 bytes where nothing does: a write cut
    short leaves it (a kill, a full disk), no finished one. Of a file and the table's own database the file counts if it
    changed more often; of the database of all tables (configManagerVersion=v2) and anything else the one that changed
    last, since such a broker looks at nothing else.
    Source: common/ConfigManager.java#load, #loadBak, broker/config/v1/*#merge, broker/config/v2/* @5.3.3.
    """
    own, common = (_database_document(files, name, is_common, damage) for is_common in (False, True))
    chosen = _merged(_json_document(files, name, damage), own)
    if chosen is None and common is None:
        _report_emptied(files, name, damage)
    if chosen is None or common is None:
        return chosen or common
    return max(common, chosen, key=lambda document: document.data_version.timestamp or 0)


def holds_table(file: StoreFile, name: str) -> bool:
    """Whether a file of config/ is what `read_document` may answer from, or its backup."""
    folder = file.path.name if file.kind == "rocksdb" else ""
    return holds(folder, name) or (not folder and file.path.name in (name, name + BACKUP))


def _merged(document: Document | None, own: Document | None) -> Document | None:
    """At its start a broker with databases takes a file in that changed more often: rows of topics and groups beside
    its own, offsets instead of its own."""
    if document is None or own is None:
        return document or own
    if (document.data_version.counter or 0) <= (own.data_version.counter or 0):
        return own
    kept = {table: rows for table, rows in own.content.items() if table in MERGED_TABLES}
    joined = {table: {**as_map(rows), **document.table(table)} for table, rows in kept.items()}
    return Document(document.file, {**document.content, **joined})


def _database_document(
    files: Sequence[StoreFile], name: str, is_common: bool, damage: DamageSink | None
) -> Document | None:
    """Of a table's own database and `config/metadata` that which changed last: a broker looks at one of them alone."""
    found = []
    for file in files:
        if file.kind == "rocksdb" and holds_table(file, name) and (file.path.name == SECOND_FORM) == is_common:
            content = read_table(file.path, name, damage=damage)
            found += [] if content is None else [Document(file, content)]
    return max(found, key=lambda document: document.data_version.timestamp or 0, default=None)


def _json_document(files: Sequence[StoreFile], name: str, damage: DamageSink | None) -> Document | None:
    """`config/<name>`, or `<name>.bak` where that is missing, empty or no JSON."""
    by_name = {file.path.name: file for file in files if file.kind != "rocksdb"}
    for candidate in (by_name.get(name), by_name.get(name + BACKUP)):
        if candidate is None:
            continue
        try:
            document = decode_document(candidate)
        except StoreFormatError as error:
            report(error, damage)
            continue
        if document is not None:
            return document
    return None


def _report_emptied(files: Sequence[StoreFile], name: str, damage: DamageSink | None) -> None:
    emptied = [file for file in files if file.path.name == name and file.kind != "rocksdb" and not file.size]
    for file in emptied:
        problem = "what the file held is not known: no finished write leaves it without a byte"
        error = CorruptRecord(problem, field="text", expected="a map", actual="0 bytes", path=file.path)
        report(error, damage)


def odd_value(document: Document, field: str, value: Json, expected: str) -> StoreFormatError:
    """A value that is not what the field holds, as an error of the document's file."""
    return CorruptRecord(
        "not a value of this field", field=field, expected=expected, actual=str(value)[:80], path=document.file.path
    )
