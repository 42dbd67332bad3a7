"""What the system says of files and folders, without opening them; and which plain files a place holds."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from parsers.evidence.supplied import supply_of

MOST_FILES = 200_000
"""A week of copies of consumerOffset.json, one at each of the broker's writes, is 120 000."""


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


class TooManyFiles(Exception):
    """A folder holds more files than one command looks at: one sentence."""


def files_below(place: Path, problem: Callable[[str], None] = lambda sentence: None) -> list[Path]:
    """The file itself, or the files below the folder, sorted; none of a place that is not there.

    Pipes and devices, which have no end, are no files.

    Args:
        problem: called with folders that cannot be looked into.
    Raises:
        TooManyFiles: the folder holds more than MOST_FILES files.
    """
    if not place.is_dir():
        return [place] if place.is_file() else []

    def closed(error: OSError) -> None:
        problem(f"{error.filename}: {error.strerror or error}: nothing in it was read")

    found: list[Path] = []
    for folder, _, names in os.walk(place, onerror=closed):
        if len(found) + len(names) > MOST_FILES:
            raise TooManyFiles(f"{place}: more than {MOST_FILES:,} files; name the folder in which those to read lie")
        found += [Path(folder, name) for name in names]
    return sorted(path for path in found if path.is_file())
