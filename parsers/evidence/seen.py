"""What the system says of files and folders, without opening them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from parsers.evidence.supplied import supply_of


class Seen(NamedTuple):
    """A file or folder at one moment; times in epoch nanoseconds.

    `inode`: of a file elsewhere, a number that stands for its content.
    `changed_ns`: of the last change of any kind, which nobody can set. A copy of the file has another.
    """

    size: int
    modified_ns: int
    inode: int
    changed_ns: int


def seen(paths: Iterable[Path]) -> dict[Path, Seen | None]:
    """What the system says of each; None of what is gone, or cannot be looked at."""
    return {path: _seen(path) for path in paths}


def _seen(path: Path) -> Seen | None:
    try:
        if (supply := supply_of(path)) is not None:
            return Seen(*supply.told(path), 0)
        stat = path.stat()
    except (OSError, ValueError):  # ValueError: a NUL in the name
        return None
    return Seen(stat.st_size, stat.st_mtime_ns, stat.st_ino, stat.st_ctime_ns)
