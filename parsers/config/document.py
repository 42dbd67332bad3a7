"""One file of config/, or its .bak, as the broker would take it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from parsers.config.fastjson import Json, as_map, parse, whole_number
from parsers.errors import CorruptRecord, DamageSink, OnDamage, StoreFormatError, report
from parsers.mapped import map_file
from parsers.store import StoreFile

BACKUP = ".bak"


@dataclass(frozen=True, slots=True)
class DataVersion:
    """`dataVersion` of a file: how often, and when (epoch ms), its content changed. `state_version`: since 5.0.0."""

    counter: int | None
    timestamp: int | None
    state_version: int | None


@dataclass(frozen=True, slots=True)
class Document:
    """The top-level map of a config file, and which file it came from (the .bak, where the main file is no use)."""

    file: StoreFile
    content: dict[str, Json]

    @property
    def from_backup(self) -> bool:
        return self.file.path.name.endswith(BACKUP)

    @property
    def data_version(self) -> DataVersion:
        stored = as_map(self.content.get("dataVersion"))
        numbers = (whole_number(stored.get(name)) for name in ("counter", "timestamp", "stateVersion"))
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
        raise CorruptRecord("a config file holds a map", field="text", actual=type(content).__name__, path=file.path)
    return Document(file, content)


def read_document(
    files: Sequence[StoreFile],
    name: str,
    *,
    on_damage: OnDamage = "raise",
    damage: DamageSink | None = None,
) -> Document | None:
    """`config/<name>` of a store's config files, or `<name>.bak` where that is missing, empty or no JSON.

    None when neither gives anything, which the broker takes for an empty state. A file passed over because it cannot
    be read is reported even where the other one stands in for it.
    Source: common/ConfigManager.java#load, #loadBak @5.3.3.
    """
    by_name = {file.path.name: file for file in files}
    for candidate in (by_name.get(name), by_name.get(name + BACKUP)):
        if candidate is None:
            continue
        try:
            document = decode_document(candidate)
        except StoreFormatError as error:
            report(error, on_damage, damage)
            continue
        if document is not None:
            return document
    return None


def odd_value(document: Document, field: str, value: Json, expected: str) -> StoreFormatError:
    """A value that is not what the field holds, as an error of the document's file."""
    return CorruptRecord(
        "not a value of this field", field=field, expected=expected, actual=str(value)[:80], path=document.file.path
    )
