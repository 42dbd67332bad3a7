"""What groups popped: acknowledged, in flight, delivered again."""

from __future__ import annotations

from pipelines.report.figures import counted, grouped
from pipelines.report.model import Column, Facts, PrintedTable, Section, State

COLUMNS = [
    Column("group", "group"),
    Column("topic", "topic"),
    Column("queue_id", "queue", True),
    Column("popped", "popped", True),
    Column("acked", "acknowledged", True),
    Column("in_flight", "in flight", True),
    Column("overdue", "overdue", True),
    Column("next_visible", "next visible", blank=True),
    Column("revived", "delivered again", True),
    Column("passed", "passed", True),
    Column("unmatched", "without checkpoint", True),
    Column("unknown", "unknown", True),
    Column("unread", "unread", True),
    Column("pop_lag", "unread and in flight", True),
]


def pops_section(facts: Facts) -> Section:
    """A row for each group and queue."""
    title = "POP"
    if facts.pops is None:
        return Section("pops", title, "Not looked at.", "unknown")
    if not facts.pops:
        return Section("pops", title, "The log has no checkpoint of a popped message.", "good")
    popped, in_flight, overdue, revived, passed, unknown = (
        sum(row[name] for row in facts.pops)
        for name in ("popped", "in_flight", "overdue", "revived", "passed", "unknown")
    )
    verdict = (
        f"{counted(popped, 'message')} popped: {grouped(in_flight)} in flight ({grouped(overdue)} of them overdue), "
        f"{grouped(revived)} delivered again, {grouped(passed)} passed, {grouped(unknown)} unknown."
    )
    state: State = "finding" if passed or unknown else "plain"
    return Section("pops", title, verdict, state, tables=[PrintedTable(COLUMNS, facts.pops)])
