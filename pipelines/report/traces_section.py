"""Message trace: what clients wrote about their sends and their listeners' calls."""

from __future__ import annotations

from pipelines.report.figures import counted, grouped
from pipelines.report.model import Column, Facts, PrintedTable, Section, State

COLUMNS = [
    Column("group", "group", blank=True),
    Column("trace_type", "kind", blank=True),
    Column("records", "records", True),
    Column("failed", "failed or not confirmed", True),
    Column("without_end", "without an end", True),
    Column("again", "of messages given back", True),
    Column("mean_cost_ms", "mean ms", True, blank=True),
    Column("most_cost_ms", "most ms", True, blank=True),
    Column("first_at", "first"),
    Column("last_at", "last"),
    Column("problems", "not read", True),
]


def traces_section(facts: Facts) -> Section:
    """A row for each group and kind of record."""
    title = "Message trace"
    if facts.traces is None:
        return Section("traces", title, "Not looked at.", "unknown")
    if not facts.traces:
        return Section("traces", title, "No client wrote traces.", "plain")
    records, failed, without_end, problems = (
        sum(row[name] for row in facts.traces) for name in ("records", "failed", "without_end", "problems")
    )
    verdict = (
        f"{counted(records, 'record')}: {grouped(failed)} failed or not confirmed, {grouped(without_end)} calls of a "
        f"listener without an end, {grouped(problems)} not read."
    )
    state: State = "finding" if failed or problems else "plain"
    return Section("traces", title, verdict, state, tables=[PrintedTable(COLUMNS, facts.traces)])
