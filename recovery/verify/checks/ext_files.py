"""The files of consumequeue_ext by themselves: their sizes, and whether the sizes of their units lead to one another.

Source: ConsumeQueueExt#load, #recover (CqExtUnit#readBySkip), #put @4.9.8, 5.3.3.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from parsers.consumequeue.ext import CQ_EXT_SIZE, CQ_EXT_UNIT, END_BLANK
from parsers.consumequeue.ext_columns import ext_columns
from parsers.errors import StoreFormatError
from parsers.mapped import map_file
from parsers.store import QueueKey, Store, StoreFile
from recovery.verify.checks.files import relative
from recovery.verify.checks.queue_ext import MISSING
from recovery.verify.findings.finding import Finding, Judgement, Place, Span

BROKEN = "ext_unit_broken"


def check_ext_files(store: Store, file_size: int, told: Sequence[Judgement]) -> Judgement:
    """What is wrong with ext files whatever the queues point to; no broken unit whose bytes are in `told` already."""
    missing = [
        place for judgement in told for found in judgement.findings if found.kind == MISSING for place in found.places
    ]
    findings = (
        finding
        for key, files in store.ext_queues.items()
        for number, file in enumerate(files)
        for finding in _of_file(store, key, file, files[number - 1] if number else None, file_size)
    )
    return Judgement(tuple(found for found in findings if found.kind != BROKEN or not _is_in(found.places[0], missing)))


def _is_in(broken: Place, places: Iterable[Place]) -> bool:
    return any(
        place.file == broken.file and place.file_pos <= broken.file_pos < place.file_pos + place.length
        for place in places
    )


def _of_file(store: Store, key: QueueKey, file: StoreFile, before: StoreFile | None, size: int) -> Iterator[Finding]:
    name, span = relative(store, file), Span(*key)
    if file.size != size:
        start = min(file.size, size)
        evidence: tuple[str, ...] = (f"file: {file.size} bytes", f"the other files: {size} bytes")
        yield Finding("file_size_wrong", span, (Place(name, start, max(file.size, size) - start),), 1, evidence)
        return
    end = _end_of_units(file)
    unit_size = _size_at(file, end)
    if unit_size > 0:
        evidence = (f"{name}: a unit of {unit_size} bytes at byte {end}", f"the file has {size} bytes")
        yield Finding(BROKEN, span, (Place(name, end, size - end),), 1, evidence)
    elif end == 0 and before is not None and before.size == size and not _is_full(before):
        evidence = ("file: no ext unit", f"{relative(store, before)}: has room for more")
        yield Finding("queue_file_superfluous", span, (Place(name, 0, size),), 1, evidence)


def _is_full(file: StoreFile) -> bool:
    end = _end_of_units(file)
    return end + CQ_EXT_UNIT.size > file.size - END_BLANK or _size_at(file, end) < 0


def _end_of_units(file: StoreFile) -> int:
    columns = ext_columns([file])
    if not len(columns.ext_offset):
        return 0
    return int(columns.ext_offset[-1] + columns.unit_size[-1]) - (file.base_offset or 0)


def _size_at(file: StoreFile, at: int) -> int:
    """What stands there as the size of a unit; 0 where nothing does."""
    try:
        return CQ_EXT_SIZE.unpack(map_file(file.path), at)["unit_size"]
    except StoreFormatError:
        return 0
