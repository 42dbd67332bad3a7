"""How far a long read is: bytes, speed and time left on stderr, only where a person watches a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

from pipelines.cli.frame.asked.options import Format

if TYPE_CHECKING:
    from rich.progress import Progress

    from pipelines.cli.frame.call.run import Run

Piece = TypeVar("Piece")
NAME_CHARACTERS, FIGURES_CHARACTERS = 16, 58
"""The least that is left of a bar's name, and what a bar, files of all, bytes, speed and time left take beside it."""


def wanted(run: Run, *, table_follows: bool = False) -> bool:
    """stderr is a terminal, nobody asked for quiet, and no answer goes to the same terminal meanwhile.

    Args:
        table_follows: the answer comes when all is read; a table may then follow on the same terminal, JSON may not.
    """
    answered_there = run.options.out is None and sys.stdout.isatty()
    if table_follows and run.format_ is Format.TABLE:
        answered_there = False
    return sys.stderr.isatty() and not run.options.quiet and not answered_there


def tracked(run: Run, pieces: Iterable[Piece], total: int, size_of: Callable[[Piece], int]) -> Iterator[Piece]:
    """Pass the pieces on; a bar moves by `size_of(piece)` bytes of `total` when the next one is asked for."""
    if not wanted(run):
        yield from pieces
        return
    with byte_bar() as bar:
        task = bar.add_task("reading", total=total)
        for piece in pieces:
            yield piece
            bar.advance(task, size_of(piece))


def byte_bar(*further: str) -> Progress:
    """A bar of bytes on stderr, on one line: in a narrow terminal it gets shorter, and then the name is cut, no figure.

    Args:
        further: texts beside it, where `{task.fields[name]}` is what `update` was given.
    """
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn
    from rich.table import Column

    console = Console(stderr=True)
    name = Column(no_wrap=True, overflow="ellipsis", max_width=max(NAME_CHARACTERS, console.width - FIGURES_CHARACTERS))
    columns = (
        TextColumn("{task.description}", table_column=name),
        BarColumn(),
        *map(TextColumn, further),
        DownloadColumn(table_column=Column(no_wrap=True)),
        TransferSpeedColumn(table_column=Column(no_wrap=True)),
        TimeRemainingColumn(table_column=Column(no_wrap=True)),
    )
    return Progress(*columns, console=console, transient=True)
