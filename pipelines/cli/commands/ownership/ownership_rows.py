"""The tables of a replay as the command line shows them."""

from __future__ import annotations

import pyarrow as pa

from parsers.layouts.columns import schema_from
from pipelines.lake.tables.ownership import (
    ASSIGNMENT_DIVERGENCE,
    ASSIGNMENTS,
    OWNERSHIP_ANOMALIES,
    OWNERSHIP_INTERVALS,
    OWNERSHIP_NOTES,
)
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


OWNERS = schema_from("topic text, queue_id i64, owners texts, certain flag, possible texts, broker text, group text")
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
    "notes": (schema_of(OWNERSHIP_NOTES), ("group", "kind", "subject", "detail")),
    "unrecognised": (
        schema_from("log text, lines i64, first_line i64, text text"),
        ("log", "lines", "first_line", "text"),
    ),
    "store": (
        schema_from(
            "first_at time_ms, last_at time_ms, level text, says text, topic text, queue_id i32, group text, "
            "lines i64, means text, example text, evidence text"
        ),
        ("first_at", "last_at", "says", "topic", "queue_id", "group", "lines", "means"),
    ),
    "counted": (
        schema_from(
            "at time_ms, statistic text, topic text, queue_id i32, group text, subject text, span text, sum i64, "
            "times i64, per_second real, average real, waited_ms i64, means text, evidence text"
        ),
        ("at", "statistic", "topic", "queue_id", "group", "subject", "span", "sum", "times", "per_second", "average"),
    ),
    "divergence": (
        schema_of(ASSIGNMENT_DIVERGENCE),
        ("at", "group", "topic", "client_id", "cause", "expected", "observed"),
    ),
}
"""Per table shown: its columns, and those a terminal sees first."""
