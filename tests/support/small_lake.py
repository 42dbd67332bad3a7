"""Rows put straight into the tables of a lake, for what is asked of several brokers."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from pipelines.lake.lake import Lake
from pipelines.lake.tables.raw import TABLES


def put(lake: Lake, name: str, *rows: dict[str, Any]) -> None:
    """Make these rows the whole table; columns that a row does not name are null."""
    lake.write(name, pa.Table.from_pylist(list(rows), schema=TABLES[name].bare_schema))
