"""A verification of files that a broker may be writing to: what counts is found twice, at the same place.

Log, queues and index are read one after another. What a broker wrote meanwhile is in one of them and not yet in another
as it was read: work in progress, no disagreement. So where files have changed while they were read the store is
verified again, and what is not found again is explained instead. What only a later look finds is looked for once more,
and stays a finding where no look settles it: its evidence says so.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from parsers.file_state import FileState, state_of
from parsers.store import NotAStore, Store
from recovery.knowledge.inference import StoreKnowledge
from recovery.verify.findings.finding import Explained, Finding
from recovery.verify.settle.outline import Outline
from recovery.verify.verify import Verification, verify

IN_PROGRESS = "in progress"
GONE = "files were written to while they were compared, and a later comparison did not find it again"
UNSETTLED = "only the last of three comparisons found it, while files were written to: compare again to settle it"
LOOKS = 3
"""So often a store is verified at most."""
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
    """Every disagreement of a store that a broker may be writing to, as far as it is not one on its way."""
    since = Moment.of(store)
    return confirmed(verify(store, known), store, known, since)


def confirmed(found: Verification, store: Store, known: StoreKnowledge, since: Moment) -> Verification:
    """What holds of a verification that began at `since`: all of it where the store stands still.

    Else the store is verified again, until a look finds only what the look before found, with the same evidence, or the
    store stood still while it was looked at; three times at most. All that the last look found stays a finding, also
    where its bytes were written over meanwhile; what no other look found is marked in its evidence. What only earlier
    looks found becomes a state that is explained.
    """
    earlier: list[Finding] = []
    is_settled = not found.findings
    for look in range(LOOKS):
        if is_settled:
            break
        try:
            now = store.listed_again()
        except NotAStore:
            break
        moment = Moment.of(now)
        if is_settled := moment == since:
            break
        if look == LOOKS - 1:
            break
        earlier += found.findings
        told = {(_cause(finding), finding.evidence) for finding in found.findings}
        found, since = verify(now, known), moment
        is_settled = all((_cause(finding), finding.evidence) in told for finding in found.findings)
    return found if not earlier else _settled(found, earlier, holds=is_settled)


def _settled(last: Verification, earlier: Sequence[Finding], *, holds: bool) -> Verification:
    """The last look, with what it says of each finding of its own and of the looks before it.

    Args:
        holds: whether nothing that the last look found has to be found twice.
    """
    twice, here = set(map(_cause, earlier)), set(map(_cause, last.findings))
    gone = {cause: finding for finding in earlier if (cause := _cause(finding)) not in here}
    return replace(
        last,
        findings=tuple(
            finding if holds or _cause(finding) in twice else replace(finding, evidence=(*finding.evidence, UNSETTLED))
            for finding in last.findings
        ),
        explained=(*last.explained, *map(_explained, gone.values())),
    )


def _cause(finding: Finding) -> tuple[object, ...]:
    """What makes two findings of two verifications the same: the rule, the queue, and the place.

    What stands at the place is no part of it: a broker that writes there does not take back what is wrong.
    """
    place, span = next(iter(finding.places), None), finding.span
    where = (span.queue_offset, span.physical_offset) if place is None else (place.file, place.file_pos)
    return finding.kind, span.topic, span.queue_id, where


def _explained(passing: Finding) -> Explained:
    return Explained(IN_PROGRESS, f"{passing.kind}: {GONE}", passing.span, passing.places)
