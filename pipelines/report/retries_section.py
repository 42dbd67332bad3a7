"""Messages that groups gave back: retries and dead letters."""

from __future__ import annotations

from pipelines.report.figures import counted, grouped
from pipelines.report.model import Column, Facts, PrintedTable, Section

COLUMNS = [
    Column("group", "group"),
    Column("topics", "of topics"),
    Column("messages", "messages", True),
    Column("dead_letters", "dead letters", True),
    Column("waiting", "waiting", True),
    Column("unread", "unread", True),
    Column("consumed", "consumed", True),
    Column("unknown", "unknown", True),
    Column("most_failures", "most failures", True),
    Column("repeated", "copies stored twice", True),
    Column("first_failed_at", "first failure"),
    Column("last_failed_at", "last failure"),
    Column("next_due", "next retry due", blank=True),
]


def retries_section(facts: Facts) -> Section:
    """A row for each group that gave messages back."""
    title = "Retries and dead letters"
    if facts.retries is None:
        return Section("retries", title, "Not looked at.", "unknown")
    if not facts.retries:
        return Section("retries", title, "No group gave a message back.", "good")
    messages, dead, waiting, unread = (
        sum(row[name] for row in facts.retries) for name in ("messages", "dead_letters", "waiting", "unread")
    )
    verdict = (
        f"{counted(messages, 'message')} given back by {counted(len(facts.retries), 'group')}: "
        f"{counted(dead, 'dead letter')}, {grouped(waiting)} waiting for a retry, "
        f"{grouped(unread)} unread."
    )
    tables = [PrintedTable(COLUMNS, facts.retries)]
    return Section("retries", title, verdict, "finding" if dead else "plain", tables=tables)
