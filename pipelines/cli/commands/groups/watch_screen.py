"""The screen of `rocketlens watch`: one store, kept up to date until Ctrl-C."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from pipelines.cli.frame.visible import visible

if TYPE_CHECKING:
    from rich.console import RenderableType

Row = dict[str, Any]
FINDINGS_SHOWN = 5
LINES_BESIDE = 10
"""Lines of a screen that are no rows of a table: headings, empty lines."""
NUMBERS_WIDTH = 30
"""What two columns of numbers take of a line, with the space between columns."""
STYLES = {"critical": "bold red", "error": "red", "warning": "yellow", "info": "dim"}


def show(watched: Iterable[Sequence[Row]], name: str) -> None:
    """Draw what is watched until it ends or Ctrl-C; the last screen stays behind on the terminal."""
    console, screen = Console(), Screen(name)
    with suppress(KeyboardInterrupt), Live(console=console, screen=True, auto_refresh=False) as live:
        for rows in watched:
            screen.take(rows)
            live.update(screen.drawn(console.width, console.height), refresh=True)
    console.print(screen.drawn(console.width, console.height))


class Screen:
    """What is known so far of the store, as a person sees it."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._look: list[Row] = []
        self._findings: deque[Row] = deque(maxlen=FINDINGS_SHOWN)
        self._found: int | None = None

    def take(self, rows: Sequence[Row]) -> None:
        """The rows of one look, or of findings."""
        if any(row["what"] == "store" for row in rows):
            self._look = list(rows)
        else:
            self._found = (self._found or 0) + len(rows)
            self._findings.extendleft(reversed(rows[:FINDINGS_SHOWN]))

    def drawn(self, width: int, height: int) -> RenderableType:
        """The screen, no larger than so many columns and lines: of what does not fit the number is said."""
        room = max(4, height - LINES_BESIDE - len(self._findings)) // 2
        groups = [row for row in self._look if row["what"] == "group"]
        topics = [row for row in self._look if row["what"] == "topic"]
        groups.sort(key=lambda row: (row["messages_behind"] is not None, -(row["messages_behind"] or 0)))
        topics.sort(key=lambda row: (-(row["messages_per_second"] or 0), row["topic"]))
        parts: list[RenderableType] = [self._head(), Text()]
        parts += _section("groups", _groups(groups[:room], (width - NUMBERS_WIDTH) // 2), len(groups), room)
        parts += _section("topics", _topics(topics[:room], width - NUMBERS_WIDTH), len(topics), room)
        return Group(*parts, *self._told())

    def _head(self) -> Text:
        store = next((row for row in self._look if row["what"] == "store"), None)
        if store is None:
            return Text(f"{visible(self._name)}: looking", style="bold")
        at = f"{store['at']:%H:%M:%S}Z"
        if store["messages"] is None:
            return Text(f"{visible(self._name)}  {at}  {visible(store['reason'])}", style="bold red")
        rate = _rate(store["messages_per_second"])
        found = "" if self._found is None else f"  {self._found} findings"
        return Text(f"{visible(self._name)}  {at}  {rate} messages a second{found}", style="bold")

    def _told(self) -> list[RenderableType]:
        lines = [_finding(row) for row in self._findings]
        further = (self._found or 0) - len(lines)
        more = [Text(f"and {further} findings before: `rocketlens verify` lists all", style="dim")] if further else []
        return [*lines, *more]


def _section(title: str, table: Table, rows: int, room: int) -> list[RenderableType]:
    if not rows:
        return []
    left = [Text(f"and {rows - room} further {title}", style="dim")] if rows > room else []
    return [table, *left, Text()]


def _groups(rows: Sequence[Row], most: int) -> Table:
    table = _table(("group", "left"), ("topic", "left"), ("behind", "right"), ("seconds", "right"))
    for row in rows:
        behind, seconds = row["messages_behind"], row["seconds_behind"]
        table.add_row(
            _cut(row["group"], most),
            _cut(row["topic"], most),
            Text("unknown", style="dim") if behind is None else f"{behind:,}",
            Text("unknown", style="dim") if seconds is None else f"{seconds:,.1f}",
        )
    return table


def _topics(rows: Sequence[Row], most: int) -> Table:
    table = _table(("topic", "left"), ("a second", "right"), ("messages so far", "right"))
    for row in rows:
        table.add_row(_cut(row["topic"], most), _rate(row["messages_per_second"]), f"{row['messages']:,}")
    return table


def _table(*columns: tuple[str, str]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for title, side in columns:
        table.add_column(title, justify="right" if side == "right" else "left", no_wrap=True)
    return table


def _cut(name: str, most: int) -> str:
    """A name in no more characters; of a long one the middle goes: names often differ at their ends."""
    shown, half = visible(name), max(4, most // 2 - 1)
    return shown if len(shown) <= 2 * half + 1 else f"{shown[:half]}…{shown[-half:]}"


def _rate(per_second: float | None) -> str:
    return "–" if per_second is None else f"{per_second:,.0f}"


def _finding(row: Row) -> Text:
    style = STYLES.get(str(row["reason"]).partition(" ")[0], "")
    return Text(visible(row["reason"]), style=style, no_wrap=True, overflow="ellipsis")
