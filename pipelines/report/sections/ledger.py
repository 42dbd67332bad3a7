"""What became of every message number: the loss ledger, summed up."""

from __future__ import annotations

from collections import Counter

from pipelines.report.drawn import svg
from pipelines.report.drawn.figures import counted, grouped
from pipelines.report.facts.model import QUEUE, Column, Facts, PrintedTable, Row, Section, numbers, texts, with_notes
from recovery.query.ledger import LOST, State

COLOURS = {
    State.STORED: "c1",
    State.EXPIRED: "quiet",
    State.FORMER_LIFE: "c5",
    State.NOT_DISPATCHED_YET: "c4",
    State.UNKNOWN: "hatch",
}


def ledger_section(facts: Facts) -> Section:
    """The store's queue offsets by state as a strip; what groups do not get as a table."""
    title = "What became of every message number"
    if facts.ledger is None:
        return Section("ledger", title, "No ledger was made.", "unknown")
    totals = Counter[str]()
    for row in facts.ledger:
        if row["group"] is None:
            totals[row["state"]] += row["messages"]
    lost = [row for row in facts.ledger if row["state"] in LOST]
    columns = [
        Column("group", "group", blank=True),
        *texts("topic"),
        QUEUE,
        *texts("state"),
        Column("first_queue_offset", "from", True),
        Column("end_queue_offset", "to", True),
        *numbers("messages"),
        Column("reason", "reason", blank=True),
    ]
    rows, notes = with_notes(sorted(lost, key=lambda row: -row["messages"]))
    return Section(
        "ledger",
        title,
        _verdict(totals, lost),
        "finding" if lost else "good",
        [svg.strip([svg.Part(s, n, COLOURS.get(State(s), "bad"), grouped(n)) for s, n in totals.most_common()])]
        if totals
        else [],
        [PrintedTable(columns, rows, _caption(lost))] if rows else [],
        notes,
    )


def _verdict(totals: Counter[str], lost: list[Row]) -> str:
    states = ", ".join(f"{grouped(count)} {state}" for state, count in totals.most_common())
    words = f"Every message number of every queue is in one state: {states}." if totals else "No queue has a message."
    missed = [row["messages"] for row in lost if row["group"] is not None]
    if missed:
        return f"{words} Groups miss {grouped(sum(missed))} in {counted(len(missed), 'range')}."
    return words if lost else f"{words} No group misses one."


def _caption(lost: list[Row]) -> str:
    groups = {row["group"] for row in lost}
    return "What is lost" if groups == {None} else "What is lost, by group; without a group: in the store"
