"""Delayed and timer messages: what is pending, overdue, and how late the others came."""

from __future__ import annotations

from pipelines.report.drawn.figures import counted, grouped
from pipelines.report.facts.model import Column, Facts, PrintedTable, Section, State, nothing_found, numbers, texts

COLUMNS = [
    *texts("kind"),
    Column("level", "level", True, blank=True),
    *texts("topic"),
    *numbers("delivered", "pending"),
    Column("overdue", "of them overdue", True),
    Column("next_due", "next due", blank=True),
    Column("late_p50_ms", "late ms, half", True, blank=True),
    Column("late_p99_ms", "late ms, 99 of 100", True, blank=True),
    Column("late_max_ms", "late ms, most", True, blank=True),
    Column("passed", "passed over", True),
    *numbers("unknown"),
    Column("expires_first", "file deleted first", True),
]


def delays_section(facts: Facts) -> Section:
    """A row for each delay level and topic, as of the report."""
    title = "Delayed and timer messages"
    if facts.delays is None:
        return Section("delays", title, "Not looked at.", "unknown")
    pending, overdue, passed, unknown = (
        sum(row[name] for row in facts.delays) for name in ("pending", "overdue", "passed", "unknown")
    )
    expires_first = sum(row["expires_first"] or 0 for row in facts.delays)
    verdict = f"{counted(pending, 'message')} pending, of these {grouped(overdue)} overdue."
    if passed or unknown:
        verdict += f" {grouped(passed + unknown)} have no delivery on record, and the broker is past them."
    if expires_first:
        verdict += f" The files of {grouped(expires_first)} are deleted before they are due."
    bad = overdue or passed or unknown or expires_first or facts.delay_notes
    state: State = "finding" if bad else "good"
    if not facts.delays:
        verdict, state = nothing_found("The log has no delayed message.", state, facts.why_not_all)
    tables = [PrintedTable(COLUMNS, facts.delays)] if facts.delays else []
    return Section("delays", title, verdict, state, tables=tables, remarks=facts.delay_notes)
