"""The tables of a replay as the command line shows them."""

from __future__ import annotations

import pyarrow as pa

from pipelines.lake.tables.ownership import ASSIGNMENT_DIVERGENCE, ASSIGNMENTS, OWNERSHIP_ANOMALIES, OWNERSHIP_INTERVALS
from pipelines.lake.tables.table import Table

BRIEF = (
    "group",
    "topic",
    "broker",
    "queue_id",
    "client_id",
    "begin_latest",
    "end_earliest",
    "cause",
    "begin_earliest",
    "end_latest",
)
"""The columns of a terminal. An ownership is certain between the latest begin and the earliest end; the others are
shown where they fit."""


OWNERS = pa.schema(
    [
        ("topic", pa.string()),
        ("queue_id", pa.int64()),
        ("owners", pa.list_(pa.string())),
        ("certain", pa.bool_()),
        ("possible", pa.list_(pa.string())),
        ("broker", pa.string()),
        ("group", pa.string()),
    ]
)
"""Who owned each queue at one instant, as a table."""


def schema_of(table: Table) -> pa.Schema:
    """The table without its lake column `source`: a replay on the command line has one."""
    return pa.schema([field for field in table.bare_schema if field.name != "source"])


TABLE_OF: dict[str, tuple[pa.Schema, tuple[str, ...]]] = {
    "intervals": (schema_of(OWNERSHIP_INTERVALS), BRIEF),
    "assignments": (schema_of(ASSIGNMENTS), ("at", "group", "topic", "client_id", "strategy", "target")),
    "anomalies": (
        schema_of(OWNERSHIP_ANOMALIES),
        ("begin_at", "end_at", "kind", "group", "topic", "broker", "queue_id", "detail", "cause"),
    ),
    "notes": (
        pa.schema([(name, pa.string()) for name in ("group", "kind", "subject", "detail")]),
        ("group", "kind", "subject", "detail"),
    ),
    "unrecognised": (
        pa.schema([("log", pa.string()), ("lines", pa.int64()), ("first_line", pa.int64()), ("text", pa.string())]),
        ("log", "lines", "first_line", "text"),
    ),
    "store": (
        pa.schema(
            [
                ("first_at", pa.timestamp("ms", "UTC")),
                ("last_at", pa.timestamp("ms", "UTC")),
                *((name, pa.string()) for name in ("level", "says", "topic")),
                ("queue_id", pa.int32()),
                ("lines", pa.int64()),
                *((name, pa.string()) for name in ("means", "example", "evidence")),
            ]
        ),
        ("first_at", "last_at", "says", "topic", "queue_id", "lines", "means"),
    ),
    "divergence": (
        schema_of(ASSIGNMENT_DIVERGENCE),
        ("at", "group", "topic", "client_id", "cause", "expected", "observed"),
    ),
}
"""Per table shown: its columns, and those a terminal sees first."""
