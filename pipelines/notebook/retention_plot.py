"""Until when the files of a log stay, and how many unread messages go with them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pipelines.notebook.start_now import Outlook
from pipelines.report.facts.model import Row

MOST_FILES = 24
STAYS, GOES, UNKNOWN = "#3b6fb6", "#b4540a", "#c9d0da"
HOUR = timedelta(hours=1)


def retention_plot(seen: Outlook) -> Figure:
    """A bar for each CommitLog file, oldest first, from now until it is due; hatched where that is not known.

    Below, where consumer offsets are kept: unread messages of each group, by whether their end is known.
    """
    now = datetime.fromtimestamp(seen.now_ms / 1000, UTC)
    files = [row for row in seen.files if row["kind"] == "commitlog"][:MOST_FILES]
    groups = _unread_by_group(seen.risks or ())
    panels = [1.2 + 0.26 * len(files)] + ([1.0 + 0.3 * len(groups)] if groups else [])
    figure = Figure(figsize=(9, sum(panels)), layout="constrained")
    axes = figure.subplots(len(panels), 1, height_ratios=panels, squeeze=False)[:, 0]
    _files(axes[0], files, now)
    if groups:
        _groups(axes[1], groups)
    return figure


def _files(axes: Axes, files: Sequence[Row], now: datetime) -> None:
    widest = max((_hours(row, now) or 0 for row in files), default=0) or 1
    for place, row in enumerate(files):
        hours = _hours(row, now)
        if row["order"] is not None:
            axes.barh(place, widest / 100, color=GOES)
            axes.text(widest / 50, place, f"goes now, number {row['order']}", va="center", fontsize=8)
        elif hours is None:
            axes.barh(place, widest, color=UNKNOWN, hatch="///", edgecolor="white", linewidth=0)
        else:
            axes.barh(place, hours, color=STAYS)
            axes.text(hours, place, f" {row['due_at']:%m-%d %H:%M}", va="center", fontsize=8)
    axes.set_yticks(range(len(files)), [row["file"] for row in files], fontsize=8, family="monospace")
    axes.invert_yaxis()
    axes.set_xlim(0, widest * 1.15)
    axes.set_xlabel(f"hours from {now:%Y-%m-%d %H:%M} UTC")
    axes.set_title("CommitLog files: how long each stays (hatched: not known)", loc="left", fontsize=10)
    axes.spines[["top", "right"]].set_visible(False)


def _hours(row: Row, now: datetime) -> float | None:
    due: datetime | None = row["due_at"]
    return None if due is None else (due - now) / HOUR


def _unread_by_group(risks: Sequence[Row]) -> list[tuple[str, dict[str, Any]]]:
    """Groups that may lose something: unread messages with a due time, without one, and queues of which nothing is
    known."""
    found: dict[str, dict[str, Any]] = {}
    for row in risks:
        if row["status"] == "zero":
            continue
        group = found.setdefault(row["group"], {"due": 0, "open": 0, "queues_unknown": 0})
        if row["unread_messages"] is None:
            group["queues_unknown"] += 1
        else:
            group["open" if row["due_at"] is None else "due"] += row["unread_messages"]
    return sorted(found.items())


def _groups(axes: Axes, groups: Sequence[tuple[str, dict[str, Any]]]) -> None:
    for place, (_, unread) in enumerate(groups):
        axes.barh(place, unread["due"], color=GOES)
        axes.barh(place, unread["open"], left=unread["due"], color=UNKNOWN, hatch="///", edgecolor="white", linewidth=0)
        notes = [f"{unread['due']:,} with a known end"] if unread["due"] else []
        notes += [f"{unread['open']:,} without"] if unread["open"] else []
        notes += [f"{unread['queues_unknown']} queues unknown"] if unread["queues_unknown"] else []
        axes.text(unread["due"] + unread["open"], place, "  " + ", ".join(notes), va="center", fontsize=8)
    widest = max(unread["due"] + unread["open"] for _, unread in groups) or 1
    axes.set_yticks(range(len(groups)), [name for name, _ in groups], fontsize=8)
    axes.invert_yaxis()
    axes.set_xlim(0, widest * 1.4)
    axes.set_xlabel("messages")
    axes.set_title("Unread messages that go with them, by group", loc="left", fontsize=10)
    axes.spines[["top", "right"]].set_visible(False)
