"""What groups have to read, by what they subscribe to."""

from __future__ import annotations

from collections.abc import Mapping

from pipelines.report.drawn.figures import counted, grouped
from pipelines.report.facts.model import QUEUE, Column, Facts, PrintedTable, Row, Section, numbers, texts, with_notes
from pipelines.report.sections.ownership import short_names


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
        Column("owners", "who has the queue", blank=True),
        Column("stands_since", "not moved since", blank=True),
        Column("reason", "reason", blank=True),
    ]
    names = short_names({row["client_id"] for row in facts.intervals or ()})
    waiting = [{**row, "owners": _owners(row, names)} for row in waiting]
    rows, notes = with_notes(sorted(waiting, key=lambda row: -(row["unread"] or 0)))
    unread = sum(row["unread"] or 0 for row in waiting)
    unknown = sum(row["unread"] or 0 for row in waiting if row["matching"] is None)
    matching = f"; of {grouped(unknown)} it is not known whether they match" if unknown else ""
    verdict = f"{counted(unread, 'message')} unread{matching}."
    untold = sum(row["unread"] is None for row in waiting)
    if untold:
        verdict += f" Beside that, of {counted(untold, 'queue')} it is not known what is unread."
    return Section(
        "backlog",
        title,
        verdict if waiting else "Every group has read all of its queues.",
        "unknown" if untold else "plain" if waiting else "good",
        tables=[PrintedTable(columns, rows)] if rows else [],
        remarks=notes,
    )


def _owners(row: Row, short: Mapping[str, str]) -> str | None:
    """In words; None where no recording tells."""
    if row["owners"] is None:
        return None
    names = ", ".join(short.get(name, name) for name in row["owners"]) or "nobody"
    until = "" if row["owned_until"] is None else f" until {row['owned_until']:%Y-%m-%d %H:%M:%S}"
    return f"{names}{until}" if row["owner_certain"] else f"perhaps {names}{until}"
