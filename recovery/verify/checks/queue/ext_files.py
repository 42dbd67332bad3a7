"""The files of consumequeue_ext by themselves: their sizes, and whether the sizes of their units lead to one another.

A broker writes them from front to back: a file that is followed by another one ends in a marker, where no further unit
fits (ConsumeQueueExt#fullFillToEnd), and what nothing was written to is zero.
Source: ConsumeQueueExt#load, #recover (CqExtUnit#readBySkip), #put @4.9.8, 5.3.3.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from parsers.consumequeue.ext import CQ_EXT_SIZE, CQ_EXT_UNIT, END_BLANK, END_OF_FILE
from parsers.consumequeue.ext_columns import ext_columns
from parsers.damage.errors import StoreFormatError
from parsers.evidence.extents import data_end
from parsers.evidence.mapped import map_file
from parsers.kernels.written import written_bytes
from parsers.store.store import Store
from parsers.store.store_file import QueueKey, StoreFile
from recovery.verify.checks.files import relative
from recovery.verify.checks.queue.ext_units import MISSING
from recovery.verify.findings.finding import Finding, Judgement, Place, Span

BROKEN, GAP = "ext_unit_broken", "queue_file_missing"
MARKER = CQ_EXT_SIZE.unpack(END_OF_FILE)["unit_size"]
MOST_FILES = 16


class _Walked(NamedTuple):
    """One file as far as the sizes of its units lead.

    Attributes:
        end: the byte after the last unit.
        size_there: what stands there as the size of a unit; 0 where nothing does.
        written: the byte after the last one that is not zero.
        unit_sizes: the sizes of its units, each once.
    """

    file: StoreFile
    name: str
    end: int
    size_there: int
    written: int
    unit_sizes: frozenset[int]

    @property
    def is_full(self) -> bool:
        return not self.has_room(CQ_EXT_UNIT.size) or self.size_there == MARKER

    def has_room(self, unit_size: int) -> bool:
        return self.end + unit_size <= self.file.size - END_BLANK


def check_ext_files(store: Store, file_size: int, told: Sequence[Judgement]) -> Judgement:
    """Findings about ext files by themselves, whatever the queues point to; none about units that `told` has as
    missing."""
    missing = [
        place for judgement in told for found in judgement.findings if found.kind == MISSING for place in found.places
    ]
    findings = (
        finding for key, files in store.ext_queues.items() for finding in _of_queue(store, key, files, file_size)
    )
    return Judgement(tuple(found for found in findings if not _is_told(found, missing)))


def _is_told(found: Finding, missing: Sequence[Place]) -> bool:
    (first, *_) = found.places
    same_file = [place for place in missing if place.file == first.file]
    if found.kind == GAP:
        return bool(same_file)
    return found.kind == BROKEN and any(
        place.file_pos <= first.file_pos < place.file_pos + place.length for place in same_file
    )


def _of_queue(store: Store, key: QueueKey, files: Sequence[StoreFile], size: int) -> Iterator[Finding]:
    walked = [_walked(store, file) for file in files]
    sizes = frozenset[int]().union(*(each.unit_sizes for each in walked if each is not None))
    last = max((number for number, each in enumerate(walked) if each is not None and each.end), default=-1)
    before: _Walked | None = None
    for number, each in enumerate(walked):
        if each is not None:
            yield from _gap(key, before, each, size) if number <= last else ()
            yield from _of_file(key, each, before, sizes, size, followed=number < last)
        before = each


def _gap(key: QueueKey, before: _Walked | None, after: _Walked, size: int) -> Iterator[Finding]:
    """Files that are not there between two that are: a broker deletes from either end."""
    if before is None:
        return
    first, end = (before.file.base_offset or 0) + size, after.file.base_offset or 0
    count, rest = divmod(end - first, size)
    if count > 0 and not rest:
        folder = before.name.rpartition("/")[0]
        bases = range(first, min(end, first + MOST_FILES * size), size)
        places = tuple(Place(f"{folder}/{base:020d}", 0, size) for base in bases)
        evidence = (f"{before.name}: ends before byte {first}", f"{after.name}: begins with byte {end}")
        yield Finding(GAP, Span(*key), places, count, evidence)


def _of_file(
    key: QueueKey, walked: _Walked, before: _Walked | None, sizes: frozenset[int], size: int, *, followed: bool
) -> Iterator[Finding]:
    """`sizes`: of all units of the queue; `followed`: a later file has units."""
    file, name, end = walked.file, walked.name, walked.end
    if file.size != size:
        start = min(file.size, size)
        evidence: tuple[str, ...] = (f"file: {file.size} bytes", f"the other files: {size} bytes")
        yield Finding("file_size_wrong", Span(*key), (Place(name, start, max(file.size, size) - start),), 1, evidence)
        return
    why = _why_broken(walked, sizes, followed=followed)
    if why is not None:
        evidence = (f"{name}: {why}", f"the file has {size} bytes")
        yield Finding(BROKEN, Span(*key), (Place(name, end, size - end),), 1, evidence)
    elif end == 0 and before is not None and not _is_next(before, file, size):
        evidence = ("file: no ext unit", f"{before.name}: it has room for more, or this file is not the next one")
        yield Finding("queue_file_superfluous", Span(*key), (Place(name, 0, size),), 1, evidence)


def _is_next(before: _Walked, file: StoreFile, size: int) -> bool:
    """A broker that wrote no more into the file before makes this one."""
    is_there = (file.base_offset or 0) - (before.file.base_offset or 0) == size
    return before.file.size != size or (before.is_full and is_there)


def _why_broken(walked: _Walked, sizes: frozenset[int], *, followed: bool) -> str | None:
    """Why the units do not end where the sizes lead to; None where they may.

    Where units have bit maps of several lengths, longer ones that were written over may be left after the end.
    """
    if walked.size_there not in (0, MARKER):
        return f"a unit of {walked.size_there} bytes at byte {walked.end}"
    if followed and not walked.is_full:
        return f"no unit at byte {walked.end}, and the next file has some"
    unit_size = min(sizes, default=CQ_EXT_UNIT.size)
    if len(sizes) < 2 and walked.has_room(unit_size) and walked.written > walked.end + CQ_EXT_SIZE.size:
        return f"no unit at byte {walked.end}, and bytes up to {walked.written} that are not zero"
    return None


def _walked(store: Store, file: StoreFile) -> _Walked | None:
    """None for a file that the system refuses."""
    try:
        content, columns = map_file(file.path), ext_columns([file])
        written = written_bytes(np.frombuffer(content, np.uint8)[: data_end(file.path, len(content))])
        end = int(columns.unit_size.sum())
        is_cut = end + CQ_EXT_SIZE.size > len(content)
        size_there = 0 if is_cut else CQ_EXT_SIZE.unpack(content, end)["unit_size"]
        unit_sizes = frozenset(np.unique(columns.unit_size).tolist())
    except StoreFormatError:
        return None
    return _Walked(file, relative(store, file), end, size_there, written, unit_sizes)
