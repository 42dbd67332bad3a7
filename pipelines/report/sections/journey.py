"""The way of one message: its steps on a time axis, and in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pipelines.report.drawn.figures import counted
from pipelines.report.drawn.svg import Lane, Mark, lanes
from pipelines.report.facts.model import Column, Facts, PrintedTable, Row, Section, texts
from pipelines.report.sections.ownership import ticks_of

COLUMNS = [
    Column("at", "at", blank=True),
    *texts("step"),
    Column("group", "group", blank=True),
    Column("client_id", "client", blank=True),
    *texts("certain", "what"),
]
CERTAIN, POSSIBLE = "c1", "hatch"
LEGEND = {"certain": CERTAIN, "a window or a possibility": POSSIBLE}


def journey_sections(facts: Facts) -> list[Section]:
    """One for each message that was asked for."""
    return [
        replace(journey_section(message_id, steps), anchor=f"journey-{number}")
        for number, (message_id, steps) in enumerate(facts.journeys.items())
    ]


def journey_section(message_id: str, steps: Sequence[Row] | None) -> Section:
    """`steps`: rows of `who`, in the order of time; those without an instant are in the table alone. None: the log has
    no such message."""
    if steps is None:
        why = "The log has no message with this id, neither as message id nor as unique id."
        return Section("journey", f"The way of {message_id}", why, "unknown")
    dated = [step for step in steps if step["at"] is not None]
    unsure = sum(not step["certain"] for step in steps)
    verdict = f"{counted(len(steps), 'step')}, {unsure} of them not certain."
    tables = [PrintedTable(COLUMNS, steps)]
    pictures = [_picture(dated)] if dated else []
    return Section("journey", f"The way of {message_id}", verdict, "plain", pictures, tables)


def _picture(steps: Sequence[Row]) -> str:
    rows: dict[str, list[Mark]] = {}
    for step in steps:
        at = step["at"].timestamp()
        label = " ".join(part for part in (step["step"], step["group"]) if part)
        colour = CERTAIN if step["certain"] else POSSIBLE
        rows.setdefault(label, []).append(Mark(at, at, colour, f"{step['at']:%H:%M:%S.%f} {step['what']}"))
    instants = [step["at"].timestamp() for step in steps]
    return lanes([Lane(*each) for each in rows.items()], ticks_of(min(instants), max(instants)), LEGEND)
