"""What store.log and storeerror.log say of the broker's files, and the logs beside them of transactions and groups."""

from __future__ import annotations

from collections.abc import Sequence

from pipelines.report.drawn.figures import counted, grouped
from pipelines.report.facts.model import Column, PrintedTable, Row, Section, State, texts, with_notes
from rebalance.readers.logs.templates.beside import BESIDE_MEANINGS, BESIDE_WRONG

WRONG = ("WARN", "ERROR")
COLUMNS = [
    Column("first_at", "first"),
    Column("last_at", "last"),
    Column("lines", "lines", True),
    *texts("level", "says"),
    Column("topic", "topic", blank=True),
    Column("queue_id", "queue", True, blank=True),
    Column("group", "group", blank=True),
    Column("means", "means", blank=True),
    *texts("example", "evidence"),
]


def store_log_section(found: Sequence[Row]) -> Section:
    """`found`: rows of `replay --show store`. A row for each kind of line, queue and group, by its first line."""
    title = "What store.log and the logs beside it say"
    lines = sum(row["lines"] for row in found)
    wrong = sum(row["lines"] for row in found if _is_wrong(row))
    verdict = f"{counted(lines, 'line')} of a known kind; of something wrong: {grouped(wrong)}."
    rows, notes = with_notes(found, "means")
    state: State = "finding" if wrong else "good" if lines else "unknown"
    return Section("store-log", title, verdict, state, tables=[PrintedTable(COLUMNS, rows)], remarks=notes)


def _is_wrong(row: Row) -> bool:
    says = row["says"]
    return says in BESIDE_WRONG if says in BESIDE_MEANINGS else row["level"] in WRONG
