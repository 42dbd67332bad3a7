"""Lag over time: messages and seconds, and where either is not known."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pipelines.report.facts.model import Row

if TYPE_CHECKING:
    import pandas as pd

COLOURS = ("#3b6fb6", "#d07f2c", "#3f9a6c", "#a4508b", "#5b8f99", "#9a7a3c", "#6c63b5", "#b5515a")
WORDS_WIDE = 1 / 60
"""Share of the plot's width that the words at an incident need."""
AROUND = timedelta(minutes=1)
"""What is shown on either side where offsets were kept once."""
FIGURES = (("messages_behind", "messages behind"), ("seconds_behind", "seconds behind"))


def lag_plot(by_group: pd.DataFrame, happened: Sequence[Row] = ()) -> Figure:
    """Two panels over time, a line for each group; a line breaks, and its span is shaded, where a figure is unknown.

    Without rows both panels say so.

    Args:
        by_group: `group`, `at`, `messages_behind`, `seconds_behind`; null is unknown.
        happened: incidents to mark: rows with `begin_at`, `kind` and `subject`.
    """
    apart = timedelta(seconds=_seconds_shown(by_group) * WORDS_WIDE)
    figure = Figure(figsize=(9, 5.6), layout="constrained")
    panels = figure.subplots(2, 1, sharex=True)
    for axes, (column, title) in zip(panels, FIGURES, strict=True):
        for number, (group, rows) in enumerate(by_group.groupby("group", sort=True)):
            _line(axes, rows, column, str(group), COLOURS[number % len(COLOURS)])
        axes.set_title(title, loc="left", fontsize=10)
        axes.set_ylim(bottom=0)
        axes.spines[["top", "right"]].set_visible(False)
        if by_group.empty:
            _nothing(axes)
        elif not apart:  # years would stand on either side of a single instant
            axes.set_xlim(*(by_group["at"].iloc[0] + side * AROUND for side in (-1, 1)))
        _marks(axes, happened, apart, named=axes is panels[0])
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False, fontsize=8)
    return figure


def _seconds_shown(by_group: pd.DataFrame) -> float:
    return float((by_group["at"].max() - by_group["at"].min()).total_seconds()) if len(by_group) else 0.0


def _line(axes: Axes, rows: pd.DataFrame, column: str, group: str, colour: str) -> None:
    values = rows[column].astype("float64")
    axes.plot(rows["at"], values, color=colour, marker="o", markersize=3, linewidth=1.4, label=group)
    instants = list(rows["at"])
    for place, is_unknown in enumerate(values.isna()):
        if is_unknown:
            begin, end = instants[max(0, place - 1)], instants[min(len(instants) - 1, place + 1)]
            axes.axvspan(begin, end, color=colour, alpha=0.12, hatch="///", linewidth=0)


def _nothing(axes: Axes) -> None:
    """Say so, with no scale: an empty one reads like lag that is 0."""
    axes.text(0.5, 0.5, "no offsets were kept", ha="center", color="#667085", transform=axes.transAxes)
    axes.set_yticks([])
    axes.xaxis.set_visible(False)


def _marks(axes: Axes, happened: Sequence[Row], apart: timedelta, *, named: bool) -> None:
    """A dotted line at each incident; one closer than `apart` to the last that has words gets none."""
    last: Row | None = None
    for row in sorted(happened, key=lambda row: row["begin_at"]):
        axes.axvline(row["begin_at"], color="#667085", linewidth=0.8, linestyle=":")
        if named and (last is None or row["begin_at"] - last["begin_at"] > apart):
            words = f" {row['kind'].replace('_', ' ')}"
            axes.text(
                row["begin_at"], 0.98, words, rotation=90, va="top", fontsize=7, transform=axes.get_xaxis_transform()
            )
            last = row
