"""Values with which decode() of a ConfigManager fails although the text is JSON.

A table is a map of maps; of delayOffset.json one of numbers, of consumerOffset.json one of maps of numbers. Numbers may
stand in quotes. Recorded with the decode() of 4.9.7, 5.3.3, 5.4.0 and 5.5.0.
"""

from __future__ import annotations

from collections.abc import Mapping

from parsers.layouts.fastjson import Json, whole_number
from parsers.values.java import INT_MAX, INT_MIN
from recovery.config.files import (
    FILTERS,
    GROUPS,
    LMQ_OFFSETS,
    OFFSETS,
    ORDER_INFO,
    REQUEST_MODES,
    TOPICS,
    ConfigFile,
    Rows,
)
from recovery.rules.versions import BrokerVersion

DATA_VERSION, COUNTER = "dataVersion", "counter"
NUMBERS = (COUNTER, "timestamp", "stateVersion")
WITHOUT_VERSION = (FILTERS, ORDER_INFO, REQUEST_MODES)
MAY_BE_NULL = (OFFSETS, LMQ_OFFSETS, FILTERS)
TAKES_ONLY_BRACKETS_4, TAKES_ONLY_BRACKETS_5 = (GROUPS,), (OFFSETS, LMQ_OFFSETS)
"""Managers with so many fields that fastjson reads them by reflection: for nothing it takes `[]` and null alone."""
BLANKS = " \t\n\r\f\b"
MAY_HAVE_NO_VERSION = (Rows.OFFSETS, Rows.DELAY_LEVELS)


def holds_nothing(text: str, file: ConfigFile, version: BrokerVersion) -> bool:
    """Whether fastjson makes null of a text, so that the broker goes on with an empty table and no error."""
    bare = text.strip(BLANKS)
    if bare == "null":
        return True
    by_reflection = TAKES_ONLY_BRACKETS_5 if version.loads_config_of_brokers_5 else TAKES_ONLY_BRACKETS_4
    if version.parses_config_with_fastjson2:
        return bare in ('""', "''") and file not in by_reflection
    if file in by_reflection:
        return bare == "[]"
    return bare in ("", '""', "''") or (bare[:1] == "[" and bare[1:].strip(BLANKS) == "]")


def not_taken(document: Mapping[str, Json], file: ConfigFile, version: BrokerVersion) -> str | None:
    """What decode() fails on; None where it takes the document. Up to 4.9.8 topics.json alone has a dataVersion."""
    has_version = file is TOPICS or (version.loads_config_of_brokers_5 and file not in WITHOUT_VERSION)
    return _of_table(document, file) or (_of_version(document, file) if has_version else None)


def _of_table(document: Mapping[str, Json], file: ConfigFile) -> str | None:
    if file.table not in document and not file.needs_table:
        return None
    table = document.get(file.table)
    if table is None and file in MAY_BE_NULL:
        return None
    if not isinstance(table, dict):
        return f"{file.table} is no map"
    wrong = (name for name, row in table.items() if not _is_row(name, row, file.rows))
    name = next(wrong, None)
    return None if name is None else f"{file.table}: the row {name[:80]!r} has another form"


def _is_row(name: str, row: Json, rows: Rows) -> bool:
    if rows is Rows.DELAY_LEVELS:
        return _is_int(name) and _is_number(row)
    if rows is Rows.OFFSETS and isinstance(row, dict):
        return all(_is_int(queue) and _is_number(offset) for queue, offset in row.items())
    return isinstance(row, dict)


def _of_version(document: Mapping[str, Json], file: ConfigFile) -> str | None:
    if DATA_VERSION not in document:
        return None
    version = document[DATA_VERSION]
    if version is None and file.rows in MAY_HAVE_NO_VERSION:
        return None
    if not isinstance(version, dict):
        return f"{DATA_VERSION} is no map"
    wrong = [name for name in NUMBERS if name in version and not _is_number(version[name])]
    wrong = [name for name in wrong if version[name] is not None or name == COUNTER]
    return f"{DATA_VERSION}.{wrong[0]} is no number" if wrong else None


def _is_int(name: str) -> bool:
    number = whole_number(name)
    return number is not None and INT_MIN <= number <= INT_MAX


def _is_number(value: Json) -> bool:
    return whole_number(value) is not None or (isinstance(value, float) and not isinstance(value, bool))
