"""Facts to one HTML file: no script, no font, no address outside it."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from pipelines.answers.instants import iso_instant
from pipelines.report.figures import figures_of
from pipelines.report.model import Facts, PrintedTable, Section
from pipelines.report.sections import sections_of

FOLDER = Path(__file__).parent
FOOTER = (
    "Made by rocketlens. Source files were opened read-only. "
    "Unknown means that the evidence does not say; it is never a zero. All times are UTC."
)
LONGEST_LINE, SHORTEST_PROSE = 24, 36
"""Characters of a text that stays on one line, and of one that wants some width to be read in."""


def render(facts: Facts) -> str:
    """The whole page."""
    read_at = (iso_instant(facts.read_at_ms) or "")[:19].replace("T", " ")
    return (
        _environment()
        .get_template("template.html.j2")
        .render(
            title=facts.source,
            subtitle=f"read {read_at} UTC · RocketMQ {facts.version or 'version unknown'}",
            figures=figures_of(facts),
            sections=sections_of(facts),
            footer=FOOTER,
        )
    )


def render_piece(piece: Section | PrintedTable) -> str:
    """One piece of the page on its own, with the page's look, for an output cell of a notebook."""
    return _environment().get_template("piece.html.j2").render(piece=piece, kind=type(piece).__name__)


def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(FOLDER), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    environment.filters |= {"shown": shown, "kept": kept}
    return environment


def kept(value: Any) -> str:
    """The class of a text cell: a name stays on one line, a date in one piece, a sentence has some width."""
    words = shown(value)
    if isinstance(value, datetime):
        return "time"
    if len(words) <= LONGEST_LINE and " " not in words:
        return "line"
    return "prose" if len(words) >= SHORTEST_PROSE and " " in words else ""


def shown(value: Any, blank: bool = False) -> str | Markup:
    """A cell: numbers with thin spaces, times without zone, unknown named (or left out where null says nothing)."""
    if value is None:
        return "" if blank else Markup('<span class="null">unknown</span>')
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}".replace(",", "\u202f")
    if isinstance(value, float):
        return f"{value:,.1f}".replace(",", "\u202f")
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M:%S}.{value.microsecond // 1000:03d}"
    if isinstance(value, list):
        return ", ".join("unknown" if part is None else str(part) for part in value)
    return str(value)
