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
from rebalance.model import MessageQueue

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
    "assignments": (schema_of(ASSIGNMENTS), ("at", "group", "topic", "client_id", "strategy", "target")),
    "anomalies": (
        schema_of(OWNERSHIP_ANOMALIES),
        ("begin_at", "end_at", "kind", "topic", "queue_id", "detail", "cause"),
    ),
    "notes": (
        pa.schema([(name, pa.string()) for name in ("group", "kind", "subject", "detail")]),
        ("group", "kind", "subject", "detail"),
    ),
    "unrecognised": (
        pa.schema([("log", pa.string()), ("lines", pa.int64()), ("first_line", pa.int64()), ("text", pa.string())]),
        ("log", "lines", "first_line", "text"),
    ),
    "divergence": (schema_of(ASSIGNMENT_DIVERGENCE), ("at", "topic", "client_id", "cause", "expected", "observed")),
}
"""Per table shown: its columns, and those a terminal sees first."""


INSTANTS = {"at_ms": "at", "from_ms": "begin_at", "to_ms": "end_at"}
"""Names of the engine's instants where the table's differ."""


def rows_of(found: Iterable[Any], schema: pa.Schema) -> Iterator[dict[str, Any]]:
    """Frozen rows of the engine as dicts that Arrow takes: instants from epoch ms, queues as broker:queue_id."""
    for row in found:
        cells = {INSTANTS.get(f.name, f.name): getattr(row, f.name) for f in dataclasses.fields(row)}
        yield {field.name: _cell(cells[field.name], field.type) for field in schema}


def _cell(value: Any, kind: pa.DataType) -> Any:
    if value is None:
        return None
    if pa.types.is_timestamp(kind):
        return value * 1000
    if pa.types.is_list(kind):
        return [f"{part.broker_name}:{part.queue_id}" if isinstance(part, MessageQueue) else part for part in value]
    return value
