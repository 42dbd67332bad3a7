"""Folders that stand for a store elsewhere: its names, sizes and times are there, its bytes come when they are touched.

A reader asks for a map as for that of any file. Whatever needs a file itself (a descriptor, a library of its own) gets
it filled first.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol


class Supply(Protocol):
    """Where the bytes of the files below a folder come from."""

    def mapped(self, path: Path) -> memoryview:
        """The whole file as read-only bytes, of which those come that are touched. Raises OSError."""

    def fill(self, path: Path) -> None:
        """Put the bytes of a file, or of all files below a folder, where the path leads. Raises OSError."""

    def told(self, path: Path) -> tuple[int, int, int]:
        """Size, time of the last change (epoch nanoseconds) and a number that is another one for another content, of a
        file; zeros of a folder. Nothing of it changes while the folder stands for the store. Raises OSError."""

    def confirm(self) -> None:
        """Raises OSError where zeros may stand for bytes that were touched until now."""


_supplies: dict[Path, Supply] = {}


@contextmanager
def supplied(folder: Path, supply: Supply) -> Iterator[None]:
    """Let the bytes of files below `folder`, an absolute path, come from there."""
    _supplies[folder] = supply
    try:
        yield
    finally:
        del _supplies[folder]


def supply_of(path: Path | str) -> Supply | None:
    """Where the bytes of a file come from; None of a file that has them."""
    if not _supplies:
        return None
    return next((supply for folder, supply in _supplies.items() if Path(path).is_relative_to(folder)), None)


def confirm_supplied() -> None:
    """Ask, before something is told of bytes that were touched, whether they are those of the stores.

    Raises OSError: the bytes of one no longer come.
    """
    for supply in list(_supplies.values()):
        supply.confirm()
