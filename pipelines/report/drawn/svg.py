"""Pictures as inline SVG that takes its colours from the page, so that they fit light and dark alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

WIDTH = 960
LABELS = 262
"""Room for LABEL_CHARACTERS, also in the wide letters of DejaVu."""
LABEL_CHARACTERS = 28
ROW = 24


class Part(NamedTuple):
    """A share of a strip: what it is, how much, and the name of its colour in the page."""

    label: str
    amount: float
    colour: str
    text: str


class Bar(NamedTuple):
    """One row of a bar chart; `amount` None is unknown and drawn as a hatched stub."""

    label: str
    amount: float | None
    text: str
    colour: str = "c1"


class Span(NamedTuple):
    """One block of a timeline row: possible from `earliest` to `latest`, certain from `sure_from` to `sure_to`."""

    row: str
    earliest: float
    sure_from: float
    sure_to: float
    latest: float
    owner: str
    title: str


class Tick(NamedTuple):
    at: float
    text: str


class Mark(NamedTuple):
    """One block of a lane, from the lane's floor up to `share` of its height."""

    begin: float
    end: float
    colour: str
    title: str
    share: float = 1.0


class Lane(NamedTuple):
    """One row of things that happened, with its label on the left."""

    label: str
    marks: Sequence[Mark]
    height: int = 18


def strip(parts: Sequence[Part]) -> str:
    """A strip whose blocks are shares of a whole, with a legend below it."""
    total = sum(part.amount for part in parts) or 1
    blocks, legend, x = [], [], 0.0
    for part in parts:
        wide = WIDTH * part.amount / total
        drawn = max(wide, 1.5) if part.amount else 0
        blocks.append(_rect(x, 0, drawn, 30, part.colour, f"{part.label}: {part.text}"))
        x += wide
    for number, part in enumerate(parts):
        left, top = 320 * (number % 3), 52 + 22 * (number // 3)
        legend.append(_rect(left, top - 11, 12, 12, part.colour, part.label))
        legend.append(_text(left + 20, top, f"{part.label} {part.text}"))
    return _svg(52 + 22 * ((len(parts) + 2) // 3), blocks + legend)


def bars(rows: Sequence[Bar]) -> str:
    """Horizontal bars with the label on the left and the figure at the end of each bar."""
    largest = max((bar.amount or 0 for bar in rows), default=0) or 1
    room = WIDTH - LABELS - 230
    drawn = []
    for number, bar in enumerate(rows):
        top = number * ROW
        drawn.append(_text(LABELS - 10, top + 16, _ends_of(bar.label), anchor="end", title=bar.label))
        if bar.amount is None:
            drawn.append(_rect(LABELS, top + 5, 40, 14, "hatch", bar.text))
            drawn.append(_text(LABELS + 48, top + 16, bar.text, css="soft"))
        else:
            wide = max(room * bar.amount / largest, 1.5 if bar.amount else 0)
            drawn.append(_rect(LABELS, top + 5, wide, 14, bar.colour, f"{bar.label}: {bar.text}"))
            drawn.append(_text(LABELS + wide + 8, top + 16, bar.text))
    return _svg(len(rows) * ROW + 4, drawn)


def lanes(rows: Sequence[Lane], ticks: Sequence[Tick], legend: Mapping[str, str]) -> str:
    """Lanes below each other on one time axis, from the first tick to the last; `legend`: a colour for each name."""
    start, end = ticks[0].at, max(ticks[-1].at, ticks[0].at + 1e-3)
    room = WIDTH - LABELS - 10

    def x_of(at: float) -> float:
        return LABELS + room * (min(max(at, start), end) - start) / (end - start)

    drawn, blocks, top = [], [], 0
    for lane in rows:
        middle = top + lane.height / 2 + 5
        drawn.append(_text(LABELS - 10, middle, _ends_of(lane.label), anchor="end", title=lane.label))
        for mark in lane.marks:
            high = max(lane.height * mark.share, 1.5)
            wide = max(x_of(mark.end) - x_of(mark.begin), 2.5)
            blocks.append(_rect(x_of(mark.begin), top + lane.height - high, wide, high, mark.colour, mark.title))
        top += lane.height + 6
    plot = [*_grid([(x_of(tick.at), tick.text) for tick in ticks], top), *blocks]
    return _on_time_axis(drawn, plot, legend, top)


def timeline(spans: Sequence[Span], ticks: Sequence[Tick], colours: Mapping[str, str]) -> str:
    """Rows of blocks over time: solid where ownership is certain, hatched where it is only possible."""
    rows = list(dict.fromkeys(span.row for span in spans))
    start = min(span.earliest for span in spans)
    end = max(max(span.latest for span in spans), start + 1)

    def x_of(at: float) -> float:
        return LABELS + (WIDTH - LABELS - 10) * (at - start) / (end - start)

    drawn, plot = [], _grid([(x_of(tick.at), tick.text) for tick in ticks], len(rows) * ROW)
    for number, row in enumerate(rows):
        drawn.append(_text(LABELS - 10, number * ROW + 16, _ends_of(row), anchor="end", title=row))
    for span in spans:
        top = rows.index(span.row) * ROW + 3
        colour = colours[span.owner]
        possible = x_of(span.latest) - x_of(span.earliest)
        plot.append(_rect(x_of(span.earliest), top, possible, 18, f"{colour} maybe", span.title))
        plot.append(_rect(x_of(span.earliest), top, possible, 18, "hatch faint", span.title))
        if span.sure_to > span.sure_from:
            plot.append(
                _rect(
                    x_of(span.sure_from), top, max(x_of(span.sure_to) - x_of(span.sure_from), 1), 18, colour, span.title
                )
            )
    return _on_time_axis(drawn, plot, colours, len(rows) * ROW)


def titled(title: str, drawn: str) -> str:
    """A drawing under a line that says what it is of."""
    return f'<p class="of">{escape(title)}</p>{drawn}'


def _grid(ticks: Sequence[tuple[float, str]], height: float) -> list[str]:
    """A line and a text for each tick, by its x."""
    drawn = []
    for x, text in ticks:
        drawn.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{height:.0f}"/>')
        drawn.append(_text(x, height + 16, text, anchor="end" if x > WIDTH - 40 else "middle", css="soft"))
    return drawn


def _on_time_axis(labels: Sequence[str], plot: Sequence[str], colours: Mapping[str, str], height: float) -> str:
    """Labels, the part that the script zooms, and the legend below it."""
    legend, below = [], height + 44
    for number, (name, colour) in enumerate(colours.items()):
        left, top = 320 * (number % 3), below + 22 * (number // 3)
        legend.append(_rect(left, top - 11, 12, 12, colour, name))
        legend.append(_text(left + 20, top, _shortened(name, 40), title=name))
    zoomed = f'<g class="plot">{"".join(plot)}</g>'
    return _svg(below + 22 * ((len(colours) + 2) // 3), [*labels, zoomed, *legend], zooms=(LABELS, WIDTH - 10))


def _svg(height: float, drawn: Sequence[str], *, zooms: tuple[int, int] | None = None) -> str:
    """`zooms`: from where to where the part `plot` reaches, which the page's script stretches."""
    hatch = (
        '<defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
        '<rect width="2.4" height="6" class="hatchline"/></pattern></defs>'
    )
    mark = f' class="zooms" data-left="{zooms[0]}" data-right="{zooms[1]}"' if zooms else ""
    return f'<svg viewBox="0 0 {WIDTH} {height:.0f}" role="img"{mark}>{hatch}{"".join(drawn)}</svg>'


def _rect(x: float, y: float, width: float, height: float, css: str, title: str) -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" width="{max(width, 0):.1f}" height="{height:.1f}" rx="2"'
    return f'<rect {place} class="{escape(css)}"><title>{escape(title)}</title></rect>'


def _text(x: float, y: float, text: str, *, anchor: str = "start", css: str = "", title: str = "") -> str:
    hint = f"<title>{escape(title)}</title>" if title and title != text else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{css}">{escape(text)}{hint}</text>'


def _ends_of(text: str) -> str:
    """Both ends of a long name: the queue's number comes last in it."""
    half = LABEL_CHARACTERS // 2
    return text if len(text) <= LABEL_CHARACTERS else f"{text[: half - 1]}…{text[-half:]}"


def _shortened(text: Any, limit: int = 24) -> str:
    words = str(text)
    return words if len(words) <= limit else words[: limit - 1] + "…"
