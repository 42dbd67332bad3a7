"""The plain files of a place that somebody names: a file, or those below a folder, as far as one command looks."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

MOST_FILES = 200_000
"""A week of copies of consumerOffset.json, one at each of the broker's writes, is 120 000."""


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
