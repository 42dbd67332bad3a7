"""When groups fell behind, and what caused it."""

from __future__ import annotations

from pipelines.report.drawn.figures import counted
from pipelines.report.facts.model import Column, Facts, PrintedTable, Row, Section, State, texts, with_notes
from recovery.query.lag_cause import LagCause

COLUMNS = [
    Column("begin", "from", blank=True),
    Column("peak_at", "worst at"),
    Column("end", "until", blank=True),
    *texts("group", "topic"),
    Column("peak_messages", "messages behind", True),
    Column("shares", "causes"),
    Column("worst_queue_id", "worst queue", True),
    Column("store_log", "lines of store.log", blank=True),
    Column("reason", "reason", blank=True),
]
LEAST_SHARE = 0.005


def episodes_section(facts: Facts) -> Section:
    """A row for each episode; its causes with their shares, the largest first."""
    title = "When groups fell behind, and why"
    if facts.lag_episodes is None:
        why = "Not looked at: it takes kept copies of the offsets (`episodes`), or a lake that kept snapshots."
        return Section("episodes", title, why, "unknown")
    rows, notes = with_notes(facts.lag_episodes)
    rows = [{**row, "shares": _shares(row)} for row in rows]
    open_ = sum(row["end"] is None for row in rows)
    verdict = f"{counted(len(rows), 'episode')} on record; {open_} not over where the record ends."
    state: State = "finding" if open_ else "plain"
    return Section("episodes", title, verdict, state, tables=[PrintedTable(COLUMNS, rows)], remarks=notes)


def _shares(row: Row) -> str:
    known = sorted(((row[cause.value], cause.value) for cause in LagCause), reverse=True)
    return ", ".join(f"{name} {share:.0%}" for share, name in known if share >= LEAST_SHARE)
