"""The notebooks' pictures: matplotlib, so that they show without a network and in a printed page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, timedelta
from typing import TYPE_CHECKING, Any

from matplotlib.dates import ConciseDateFormatter
from matplotlib.figure import Figure

from pipelines.report.facts.model import Column, PrintedTable

if TYPE_CHECKING:
    import pandas as pd

REGION_COLOURS = {
    "messages": "#4f43dd",
    "blank": "#c9c6f2",
    "stale": "#e0a83a",
    "damage": "#c8372d",
    "unwritten": "#ececf1",
}
MOST_BARS = 14


def bytes_of_files(frame: pd.DataFrame) -> Figure:
    """What the bytes of each CommitLog file are; takes the answer to `bytes_accounted_for`."""
    names = [str(name).rsplit("/", 1)[-1].lstrip("0") or "0" for name in frame["file"]]
    parts = {kind: [float(value) / 2**20 for value in frame[kind]] for kind in REGION_COLOURS}
    return _stacked("what the bytes of each CommitLog file are", names, parts, "MiB")


def counts_of(frame: pd.DataFrame, label: str, value: str, title: str, unit: str) -> Figure:
    """Bars of one column, the largest first."""
    ranked = frame.sort_values(value, ascending=False).head(MOST_BARS)
    return _stacked(title, [_short(str(name)) for name in ranked[label]], {value: list(ranked[value])}, unit)


def over_time(frame: pd.DataFrame, at: str, value: str, title: str, unit: str) -> Figure:
    """A count against time, a row for each second in which there was something: the others had nothing."""
    figure = Figure(figsize=(8, 2.6))
    axes = figure.subplots()
    counts = frame.set_index(at)[value].astype(float)
    counts = counts.combine_first(counts.set_axis(frame[at] + timedelta(seconds=1)) * 0)
    axes.fill_between(counts.index, counts, step="post", color="#4f43dd", alpha=0.75, linewidth=0)
    axes.set_title(title, loc="left", fontsize=10)
    axes.set_ylabel(unit)
    axes.set_ylim(bottom=0)
    axes.spines[["top", "right"]].set_visible(False)
    short = ConciseDateFormatter(axes.xaxis.get_major_locator(), tz=UTC)  # type: ignore[no-untyped-call]
    axes.xaxis.set_major_formatter(short)
    figure.tight_layout()
    return figure


def _stacked(title: str, names: Sequence[str], parts: Mapping[str, Sequence[float]], unit: str) -> Figure:
    figure = Figure(figsize=(8, 1.2 + 0.3 * max(1, len(names))), layout="constrained")
    axes = figure.subplots()
    left = [0.0] * len(names)
    for kind, values in parts.items():
        axes.barh(names, values, left=left, label=kind, color=REGION_COLOURS.get(kind, "#4f43dd"))
        left = [start + value for start, value in zip(left, values, strict=True)]
    axes.invert_yaxis()
    axes.set_title(title, loc="left", fontsize=10)
    axes.set_xlabel(unit)
    axes.spines[["top", "right"]].set_visible(False)
    if len(parts) > 1:
        figure.legend(loc="outside lower center", ncols=len(parts), frameon=False, fontsize=8)
    return figure


def _short(name: str) -> str:
    return name if len(name) <= 32 else f"{name[:31]}…"


def grid_of(rows: Sequence[Mapping[str, Any]], down: str, across: str, value: str, title: str) -> PrintedTable:
    """A figure of each row in a table by two of its columns, in the order in which they come."""
    names = list(dict.fromkeys(str(row[across]) for row in rows))
    figures: dict[Any, dict[str, Any]] = {}
    for row in rows:
        figures.setdefault(row[down], {})[str(row[across])] = row[value]
    heads = [Column(down, down.replace("_", " ")), *(Column(name, name, True) for name in names)]
    return PrintedTable(heads, [{down: place, **found} for place, found in figures.items()], title)
