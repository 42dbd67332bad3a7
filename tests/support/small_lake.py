"""Rows put straight into the tables of a lake, for what is asked of several brokers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from pipelines.lake.lake import Lake
from pipelines.lake.tables.raw import TABLES
from pipelines.lake.tables.table import Table

CACHED = ("schema", "bare_schema", "columns_hash")


def put(lake: Lake, name: str, *rows: dict[str, Any]) -> None:
    """Make these rows the whole table; columns that a row does not name are null."""
    lake.write(name, pa.Table.from_pylist(list(rows), schema=TABLES[name].bare_schema))


@contextmanager
def declared_without(table: Table, column: str) -> Iterator[None]:
    """As if the table had not got this column yet."""
    now = table.columns
    try:
        _declare(table, tuple(each for each in now if each.name != column))
        yield
    finally:
        _declare(table, now)


def _declare(table: Table, columns: object) -> None:
    vars(table)["columns"] = columns
    for name in CACHED:
        vars(table).pop(name, None)
