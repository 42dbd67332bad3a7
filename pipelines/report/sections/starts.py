"""Where a group that has no offset yet begins on each queue."""

from __future__ import annotations

from parsers.values.topics import is_brokers_own
from pipelines.report.drawn.figures import counted, grouped
from pipelines.report.facts.model import QUEUE, Column, Facts, PrintedTable, Section, numbers, texts, with_notes
from recovery.query.group_start import Policy


def starts_section(facts: Facts) -> Section:
    """The start under the client's default, CONSUME_FROM_LAST_OFFSET, on topics of users; a window where the files
    do not decide it."""
    title = "Where a new group begins"
    rows = [
        row
        for row in facts.starts or ()
        if row["policy"] == Policy.LAST.value and not row["topic"].startswith("%") and not is_brokers_own(row["topic"])
    ]
    if not rows:
        verdict = "No queue of a topic is known." if facts.starts is None else "No queue of a topic has a message."
        return Section("starts", title, verdict, "unknown")
    open_ = sum(not row["certain"] for row in rows)
    skipped = sum(row["never_delivered"] or 0 for row in rows)
    words = f"A push consumer begins at the end by default: at most {grouped(skipped)} messages never reach a new group"
    verdict = (
        f"{words}. {counted(open_, 'queue')} of {len(rows)} may begin at 0 instead, see the notes."
        if open_
        else (f"{words}.")
    )
    columns = [
        *texts("topic"),
        QUEUE,
        *numbers("earliest", "latest", "never_delivered"),
        Column("memory_needed", "memory needed", True, blank=True),
        Column("reason", "hangs on", blank=True),
    ]
    printed, notes = with_notes(sorted(rows, key=lambda row: (-(row["never_delivered"] or 0), row["topic"])))
    return Section("starts", title, verdict, "plain", [], [PrintedTable(columns, printed)], notes)
