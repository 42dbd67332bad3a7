"""What differs between a store and a damaged copy of it, and whether a finding is about that.

The bytes that differ from the base store are the edits; a byte that was rewritten with its old value is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np

from recovery.verify.findings.finding import Finding, Place
from tests.support.log_folders import is_of_log

MARKERS = ("abort", "abort.bak", "lock")
NEIGHBOURHOOD = 64
ONE_CHANGE = 8
"""Differing bytes so near each other are one change: the equal ones between them are so by chance."""

Files = dict[str, bytes]
"""The content of every file of a store by its path below the root."""


@dataclass(frozen=True)
class Change:
    file: str
    start: int
    end: int
    what: Literal["new", "gone", "size", "bytes"]


def changes_between(base: Path, after: Files) -> Iterable[Change]:
    """What differs from a store, neighbouring bytes together; markers and modification times are not looked at."""
    before = files_once(base)
    for name in sorted(name for name in before.keys() | after.keys() if name.partition("/")[0] not in MARKERS):
        old, new = before.get(name), after.get(name)
        if old is None or new is None:
            present = new if old is None else old
            yield Change(name, 0, max(1, len(present or b"")), "new" if old is None else "gone")
        elif old != new:
            yield from _byte_changes(name, old, new)


def files_of(root: Path) -> Files:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


@cache
def files_once(root: Path) -> Files:
    return files_of(root)


def _byte_changes(name: str, old: bytes, new: bytes) -> Iterable[Change]:
    common = min(len(old), len(new))
    differs = np.flatnonzero(np.frombuffer(old[:common], np.uint8) != np.frombuffer(new[:common], np.uint8))
    for run in np.split(differs, np.flatnonzero(np.diff(differs) > ONE_CHANGE) + 1):
        if len(run):
            yield Change(name, int(run[0]), int(run[-1]) + 1, "bytes")
    if len(old) != len(new):
        yield Change(name, common, max(len(old), len(new)), "size")


def covered(change: Change, places: Sequence[Place]) -> bool:
    """The change lies inside the places taken together."""
    return not uncovered(change, places)


def uncovered(change: Change, places: Sequence[Place]) -> list[Change]:
    """The parts of a change that lie in none of the places; a place of no length is a whole file or folder. A file that
    is new, gone or of another size is one part."""
    inside = []
    for place in places:
        whole = place.length == 0 and (change.file == place.file or change.file.startswith(f"{place.file}/"))
        if whole or (change.what == "gone" and change.file.startswith(f"{place.file}/")):
            return []
        if place.file == change.file:
            if change.what != "bytes" and place.file_pos <= change.start:
                return []
            inside.append((place.file_pos, place.file_pos + place.length))
    parts, at = [], change.start
    for start, end in [*sorted(inside), (change.end, change.end)]:
        if at < start and change.what == "bytes":
            parts.append(replace(change, start=at, end=min(start, change.end)))
        at = max(at, end)
        if at >= change.end:
            break
    return parts if change.what == "bytes" else [change]


def touches(finding: Finding, changes: Sequence[Change]) -> bool:
    """The finding is about bytes that an edit changed, or right beside them, or about a message whose record it was."""
    return any(_near(place, change) for place in finding.places for change in changes) or any(
        _takes(change, finding.span.physical_offset) for change in changes
    )


def _takes(change: Change, physical_offset: int | None) -> bool:
    name = Path(change.file).name
    if not is_of_log(change.file) or not name.isdigit() or physical_offset is None:
        return False
    return change.start <= physical_offset - int(name) < change.end


def _near(place: Place, change: Change) -> bool:
    if place.file != change.file:
        return change.file.startswith(f"{place.file}/") or place.file.startswith(f"{change.file}/")
    end = place.file_pos + place.length
    return place.length == 0 or (place.file_pos < change.end + NEIGHBOURHOOD and change.start < end + NEIGHBOURHOOD)
