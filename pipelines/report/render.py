"""Facts to one HTML file: nothing outside it is asked for, and its small script is no more than a convenience."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from pipelines.answers.instants import iso_instant
from pipelines.report.drawn.figures import counted, figures_of
from pipelines.report.facts.lake import BrokerFacts, LakeFacts
from pipelines.report.facts.model import ROWS_SHOWN, Facts, Link, Part, PrintedTable, Section
from pipelines.report.sections.overview import anchor_of, lake_figures, overview_section, rank_of, state_of
from pipelines.report.sections.ownership import ownership_section
from pipelines.report.sections.questions import sections_of
from pipelines.report.sections.replicas import replica_section

FOLDER = Path(__file__).parent
FOOTER = (
    "Made by rocketlens. Source files were opened read-only. "
    "Unknown means that the evidence does not say; it is never a zero. All times are UTC."
)
MOST_BYTES = 5_000_000
BROKERS_INDEXED = 24
"""Brokers that the head of the page leads to; the table of brokers leads to each of them as well."""
TOLD_IN_OVERVIEW = frozenset(("contents", "agreement", "forecast"))
"""Sections whose findings are among the columns of the table of brokers."""
CARRIED_CELLS = 10_000
"""Cells of one table that an output cell of a notebook holds at most."""
SHORTEST_LINE, LONGEST_LINE, SHORTEST_PROSE = 14, 24, 36
"""Characters of a text and of a word that stay on one line, and of a text that wants some width to be read in."""
TYPED = re.compile(r"`([^`]+)`|(?<![\w-])(--[a-z][a-z-]*[a-z])")


def render(facts: Facts | LakeFacts) -> str:
    """The whole page. Where it would be larger than MOST_BYTES its tables print fewer rows, and count the others."""
    shown = ROWS_SHOWN
    while True:
        page = _page(facts, shown)
        if shown == 1 or len(page.encode("utf-8", "replace")) <= MOST_BYTES:
            return page
        shown = max(1, shown // 2)


def _page(facts: Facts | LakeFacts, shown: int) -> str:
    read_at = (iso_instant(facts.read_at_ms) or "")[:19].replace("T", " ")
    of = f"{counted(len(facts.brokers), 'broker')}" if isinstance(facts, LakeFacts) else _version(facts)
    parts = [replace(part, sections=[shorter(each, shown) for each in part.sections]) for part in parts_of(facts)]
    verdicts = [each.verdict for each in facts.brokers] if isinstance(facts, LakeFacts) else []
    return (
        _environment()
        .get_template("template.html.j2")
        .render(
            title=facts.source,
            subtitle=f"read {read_at} UTC · {of}",
            figures=lake_figures(verdicts) if isinstance(facts, LakeFacts) else figures_of(facts),
            index=_index(parts),
            parts=parts,
            footer=FOOTER,
            script=_script(),
            carried=lambda table: 0,
        )
    )


def _index(parts: Sequence[Part]) -> list[Part | Section]:
    """What the head of the page leads to; brokers only where they leave room for the figures below."""
    brokers = [part for part in parts if part.title]
    named = brokers if len(brokers) <= BROKERS_INDEXED else []
    return [entry for part in parts for entry in ([part] if part in named else [] if part.title else part.sections)]


def _version(facts: Facts) -> str:
    return f"RocketMQ {facts.version or 'version unknown'}"


def parts_of(facts: Facts | LakeFacts) -> list[Part]:
    """The page's parts: of one store its sections; of a lake the brokers, each of them, the worst first, and the whole
    cluster."""
    if isinstance(facts, Facts):
        return [Part("", "", "plain", "", sections_of(facts))]
    brokers = sorted(facts.brokers, key=lambda each: rank_of(each.verdict))
    told = [_part(number, each) for number, each in enumerate(brokers)]
    overview = overview_section([each.verdict for each in brokers], [_also(part.sections) for part in told])
    first = Part("", "", "plain", "", [overview])
    last = [Part("", "", "plain", "", _of_the_cluster(facts.cluster))] if facts.cluster else []
    return [first, *told, *last]


def _also(sections: Sequence[Section]) -> str | None:
    """The sections with something to look at that the other columns of the overview do not tell."""
    found = [each.anchor for each in sections if each.state == "finding" and each.anchor not in TOLD_IN_OVERVIEW]
    return ", ".join(found) or None


def _of_the_cluster(cluster: Facts) -> list[Section]:
    replicas = replica_section(cluster)
    return [ownership_section(cluster), *([] if replicas is None else [replicas])]


def _part(number: int, broker: BrokerFacts) -> Part:
    facts, verdict = broker.facts, broker.verdict
    sections = [each for each in sections_of(facts) if each.anchor != "ownership"]
    told = {"also to look at": _also(sections), "next": verdict.next_command}
    follows = "".join(f" · {what}: {words}" for what, words in told.items() if words)
    return Part(
        anchor_of(number), verdict.broker, state_of(verdict), f"{verdict.store} · {_version(facts)}{follows}", sections
    )


def shorter(section: Section, shown: int) -> Section:
    """The section with at most so many rows of each table, and as many remarks; the rest is counted."""
    tables = [replace(table, shown=min(table.shown, shown)) for table in section.tables]
    if section.anchor == "brokers":
        return section
    if len(section.remarks) <= shown:
        return replace(section, tables=tables)
    left = f"and {len(section.remarks) - shown} more remarks"
    return replace(section, tables=tables, remarks=[*section.remarks[:shown], left])


def render_piece(piece: Section | PrintedTable) -> str:
    """One piece of the page on its own, with the page's look and script, for an output cell of a notebook.

    Rows of a table beyond those that are shown come along hidden, up to CARRIED_CELLS, and the script turns to them.
    """
    template = _environment().get_template("piece.html.j2")
    return template.render(piece=piece, kind=type(piece).__name__, script=_script(), carried=carried_rows)


def carried_rows(table: PrintedTable) -> int:
    """Rows of a table in a notebook that come along hidden."""
    return max(0, CARRIED_CELLS // max(1, len(table.columns)) - table.shown)


def _script() -> str:
    return (FOLDER / "page.js").read_text("utf-8")


@cache
def _environment() -> Environment:
    """The templates; kept, since compiling them takes longer than filling in most pieces."""
    environment = Environment(
        loader=FileSystemLoader(FOLDER), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    environment.filters |= {"shown": shown, "kept": kept, "with_code": with_code}
    return environment


def with_code(sentence: str) -> Markup:
    """A sentence whose words between backticks, commands and names of files, look like what one types; so do options,
    whose dashes stay on one line."""
    return Markup(TYPED.sub(_typed, str(escape(sentence))))


def _typed(found: re.Match[str]) -> str:
    return f"<code>{found[1]}</code>" if found[1] else f'<code class="line">{found[2]}</code>'


def kept(value: Any) -> str:
    """The class of a text cell: a name stays on one line, a date in one piece, a sentence has some width.

    A word that is longer than a line, an id say, breaks before it pushes other columns out of the page.
    """
    words = value.text if isinstance(value, Link) else shown(value)
    if isinstance(value, datetime):
        return "time"
    if len(words) <= SHORTEST_LINE:
        return "line"
    if " " not in words:
        return "line" if len(words) <= LONGEST_LINE else "word"
    return "prose" if len(words) >= SHORTEST_PROSE else ""


def _listed(part: Any) -> str:
    """A part of a list; a property as its name and its value."""
    is_property = isinstance(part, dict) and part.keys() == {"name", "value"}
    return f"{part['name']}={part['value']}" if is_property else str(part)


def shown(value: Any, blank: bool = False, is_identifier: bool = False) -> str | Markup:
    """A cell: counts with thin spaces, identifiers as they are asked for, times without zone, unknown named (or left
    out where null says nothing)."""
    if value is None:
        return "" if blank else Markup('<span class="null">unknown</span>')
    if isinstance(value, Link):
        return Markup('<a href="{}">{}</a>').format(value.address, value.text)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return str(value) if is_identifier else f"{value:,}".replace(",", "\u202f")
    if isinstance(value, float):
        return f"{value:,.1f}".replace(",", "\u202f")
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M:%S}.{value.microsecond // 1000:03d}"
    if isinstance(value, list):
        return ", ".join("unknown" if part is None else _listed(part) for part in value)
    return str(value)
