"""What a replay found, as rows of the ownership tables."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

from pipelines.ownership_tables import (
    ASSIGNMENT_DIVERGENCE,
    ASSIGNMENTS,
    OWNERSHIP_ANOMALIES,
    OWNERSHIP_INTERVALS,
)
from pipelines.table import Table

BRIEF = (
    "group",
    "topic",
    "broker",
    "queue_id",
    "client_id",
    "begin_earliest",
    "begin_latest",
    "end_earliest",
    "end_latest",
)


def schema_of(table: Table) -> pa.Schema:
    """The table without its lake column `source`: a replay on the command line has one."""
    return pa.schema([field for field in table.bare_schema if field.name != "source"])


TABLE_OF: dict[str, tuple[pa.Schema, tuple[str, ...]]] = {
    "intervals": (schema_of(OWNERSHIP_INTERVALS), (*BRIEF, "cause")),
    "assignments": (schema_of(ASSIGNMENTS), ()),
    "anomalies": (schema_of(OWNERSHIP_ANOMALIES), ()),
    "divergence": (schema_of(ASSIGNMENT_DIVERGENCE), ()),
}
"""Per table shown: its columns, and those a terminal sees first."""


def rows_of(found: Iterable[Any], schema: pa.Schema) -> Iterator[dict[str, Any]]:
    """Frozen rows of the engine as dicts that Arrow takes: instants from epoch ms, tuples as lists."""
    for row in found:
        fields = dataclasses.asdict(row)
        yield {field.name: _cell(fields.get(field.name), field.type) for field in schema}


def _cell(value: Any, kind: pa.DataType) -> Any:
    if value is None:
        return None
    if pa.types.is_timestamp(kind):
        return value * 1000
    if pa.types.is_list(kind):
        return [str(part) for part in value]
    return value
