"""What moved the offsets of groups."""

from __future__ import annotations

from pipelines.report.drawn.figures import counted, grouped
from pipelines.report.facts.model import QUEUE, Column, Facts, PrintedTable, Section, numbers, texts, with_notes
from pipelines.report.sections.ownership import in_short, short_names

PLAIN = {"commits_rejected", "stalled", "reset_refused"}
"""Kinds that move no offset."""


def offsets_section(facts: Facts) -> Section:
    """Moves in order of time, and what the next pull will move."""
    title = "What moved the offsets of groups"
    if facts.offset_events is None:
        return Section("offsets", title, "Not looked at.", "unknown")
    moves = [row for row in facts.offset_events if row["kind"] not in PLAIN]
    columns = [
        Column("earliest", "from"),
        Column("latest", "until"),
        *texts("group", "topic"),
        QUEUE,
        *texts("kind"),
        Column("from_queue_offset", "offset before", True),
        Column("to_queue_offset", "offset after", True),
        *numbers("skipped", "repeated"),
        Column("by", "by", blank=True),
        *texts("cause"),
        Column("reason", "reason", blank=True),
    ]
    names = short_names({row["client_id"] for row in facts.intervals or ()})
    events = [{**row, "by": in_short(row["by"], names)} for row in facts.offset_events]
    rows, notes = with_notes(events)
    skipped = sum(row["skipped"] or 0 for row in moves)
    repeated = sum(row["repeated"] or 0 for row in moves)
    counts = f"{grouped(skipped)} messages skipped, {grouped(repeated)} repeated, as far as known"
    verdict = f"{counted(len(moves), 'move')} on record: {counts}." if moves else "No move is on record."
    return Section(
        "offsets",
        title,
        verdict,
        "finding" if skipped else "plain" if moves else "good",
        tables=[PrintedTable(columns, rows)] if rows else [],
        remarks=notes,
    )
