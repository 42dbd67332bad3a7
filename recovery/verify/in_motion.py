"""A verification of files that a broker may be writing to: what counts is found twice, in bytes that stayed the same.

Log, queues and index are read one after another. What a broker wrote meanwhile is in one of them and not yet in another
as it was read: work in progress, no disagreement. So where files have changed while they were read the store is
verified again, and what is not found again is explained instead.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from parsers.errors import UnreadableFile
from parsers.file_state import FileState, state_of
from parsers.mapped import map_file
from parsers.store import NotAStore, Store
from recovery.knowledge.inference import StoreKnowledge
from recovery.verify.findings.finding import Explained, Finding, Place
from recovery.verify.settle.outline import Outline
from recovery.verify.verify import Verification, verify

IN_PROGRESS = "in progress"
WHY = "files were written to while they were compared, and a second comparison did not find it again"
MARKED_BYTES = 4096
"""So many bytes at the beginning of a place tell whether it was written to."""
APPENDED = 2
"""A broker appends to the newest file of a log, or to the one before it: it makes the next file ahead."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A store at one moment: enough to tell whether it was written to since.

    Attributes:
        listed: a hash over the names, sizes and times of all files.
        appended: the states of the files that a broker appends to; those of a map that is written to keep their times.
    """

    listed: str
    appended: tuple[FileState | None, ...]

    @classmethod
    def of(cls, store: Store) -> Moment:
        """The store as it was listed, and its newest files as they are now."""
        listed = sorted((str(file.path), file.size, file.mtime_ns) for file in store.files())
        newest = (*store.commitlog[-APPENDED:], *store.index[-1:])
        return cls(
            hashlib.sha256(repr(listed).encode("utf-8", "surrogatepass")).hexdigest(), tuple(map(state_of, newest))
        )


@dataclass(frozen=True, slots=True)
class SlicedPass:
    """The first pass over a log that was made in slices: when it began, and what each slice told, in log order."""

    since: Moment
    outlines: Sequence[Outline]


def verify_in_motion(store: Store, known: StoreKnowledge) -> Verification:
    """As `verify`, of a store that may be written to meanwhile."""
    since = Moment.of(store)
    return confirmed(verify(store, known), store, known, since)


def confirmed(found: Verification, store: Store, known: StoreKnowledge, since: Moment) -> Verification:
    """What holds of a verification that began at `since`: all of it where the store stands still.

    Else the store is verified once more. A finding counts when it is found both times at the same place, in bytes that
    did not change in between; each other one becomes a state that is explained.
    """
    if not found.findings:
        return found
    try:
        now = store.listed_again()
    except NotAStore:
        return found
    if Moment.of(now) == since:
        return found
    before = [(_cause(now, finding), finding) for finding in found.findings]
    second = verify(now, known)
    after = [(_cause(now, finding), finding) for finding in second.findings]
    first_causes, second_causes = {cause for cause, _ in before}, {cause for cause, _ in after}
    passing = [finding for cause, finding in before if cause not in second_causes]
    passing += [finding for cause, finding in after if cause not in first_causes]
    return replace(
        second,
        findings=tuple(finding for cause, finding in after if cause in first_causes),
        explained=(*second.explained, *map(_explained, passing)),
    )


def _cause(store: Store, finding: Finding) -> tuple[object, ...]:
    """What makes two findings of two verifications the same: the rule, the queue, the place, and what stands there."""
    place = next(iter(finding.places), None)
    where = None if place is None else (place.file, place.file_pos, _mark(store, place))
    span = finding.span
    return finding.kind, span.topic, span.queue_id, span.queue_offset, span.physical_offset, where


def _mark(store: Store, place: Place) -> int | None:
    """CRC-32 of what stands at a place; None of what cannot be read, as a folder."""
    try:
        return zlib.crc32(map_file(store.root / place.file)[place.file_pos :][: min(place.length, MARKED_BYTES)])
    except UnreadableFile:
        return None


def _explained(passing: Finding) -> Explained:
    return Explained(IN_PROGRESS, f"{passing.kind}: {WHY}", passing.span, passing.places)
