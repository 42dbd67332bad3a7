"""How the replicas of a broker stand to each other, for a lake whose configuration names some."""

from __future__ import annotations

from collections import Counter

from pipelines.report.drawn.figures import counted
from pipelines.report.facts.model import Column, Facts, PrintedTable, Row, Section, State, numbers, texts

ALARMING = ("diverged", "altered", "open")
"""Natures of a difference between logs that is more than one replica being further than the other."""
OF_LOGS = ("log", "head", "tail", "missing_in_other", "hole", "first_difference", "altered_record", "epoch_cut")


def replica_section(facts: Facts) -> Section | None:
    """From where logs differ and what each has alone; None where no replicas were compared."""
    if facts.replicas is None:
        return None
    logs = [row for row in facts.replicas if row["what"] == "log"]
    columns = [
        Column("left", "replica"),
        Column("right", "other"),
        *texts("what", "nature"),
        Column("replica", "whose", blank=True),
        Column("physical_offset", "from byte", True),
        *numbers("messages"),
        Column("reason", "what it means", blank=True),
    ]
    shown = [row for row in facts.replicas if row["what"] in OF_LOGS]
    others = Counter(
        row["what"] for row in facts.replicas if row["what"] not in (*OF_LOGS, "record_field", "tail_queue")
    )
    remarks = [f"{counted(number, 'row')} of {what.replace('_', ' ')}" for what, number in sorted(others.items())]
    return Section(
        "replicas",
        "Do replicas hold the same",
        _verdict(logs),
        _state(facts.replicas, logs),
        tables=[PrintedTable(columns, shown)] if shown else [],
        remarks=[*remarks, "`rocketlens compare` says which replica to keep, and what that costs each group."],
    )


def _verdict(logs: list[Row]) -> str:
    if not logs:
        return "No pair of replicas could be compared."
    told = Counter(row["field"].replace("_", " ") for row in logs)
    return f"{counted(len(logs), 'pair')} of logs: {', '.join(f'{number} {what}' for what, number in told.items())}."


def _state(rows: list[Row], logs: list[Row]) -> State:
    if any(row["nature"] in ALARMING and row["what"] in OF_LOGS for row in rows):
        return "finding"
    if not logs:
        return "unknown"
    return "good" if all(row["nature"] == "same" for row in logs) else "plain"
