"""What groups have to read, by what they subscribe to."""

from __future__ import annotations

from pipelines.report.figures import grouped
from pipelines.report.model import QUEUE, Column, Facts, PrintedTable, Section, numbers, texts, with_notes


def backlog_section(facts: Facts) -> Section:
    """Queues with unread messages, and the message that each group gets next."""
    title = "What each group gets next"
    if facts.backlog is None:
        return Section("backlog", title, "No offsets of groups are known.", "unknown")
    waiting = [row for row in facts.backlog if row["unread"] != 0]
    columns = [
        *texts("group", "topic"),
        QUEUE,
        Column("subscription", "subscription", blank=True),
        *numbers("unread", "matching"),
        Column("head_queue_offset", "next", True),
        Column("head_keys", "its keys", blank=True),
        Column("head_stored_at", "stored at", blank=True),
        Column("reason", "reason", blank=True),
    ]
    rows, notes = with_notes(sorted(waiting, key=lambda row: -(row["unread"] or 0)))
    unread = sum(row["unread"] or 0 for row in waiting)
    unknown = sum(row["unread"] or 0 for row in waiting if row["matching"] is None)
    verdict = f"{grouped(unread)} messages are unread; of {grouped(unknown)} it is not known whether they match."
    return Section(
        "backlog",
        title,
        verdict if waiting else "Every group has read all of its queues.",
        "plain" if waiting else "good",
        tables=[PrintedTable(columns, rows)] if rows else [],
        remarks=notes,
    )
