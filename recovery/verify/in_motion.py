"""A verification of files that a broker may be writing to: what counts is found twice, at the same place.

Log, queues and index are read one after another. What a broker wrote meanwhile is in one of them and not yet in another
as it was read: work in progress, no disagreement. So where files have changed while they were read the store is
verified again, and what is not found again is explained instead. What only a later look finds is looked for once more,
and stays a finding where no look settles it: its evidence says so.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from parsers.store.file_state import FileState, state_of
from parsers.store.store import NotAStore, Store
from recovery.knowledge.inference import StoreKnowledge
from recovery.query.watermark import dispatched_before, log_end_from
from recovery.verify.findings.finding import Explained, Finding, Place
from recovery.verify.reached_again import checkpoint_is_reached_by_now, reached_by_now
from recovery.verify.running_broker import cleaner_is_due, is_running
from recovery.verify.settle.index_again import right_by_now
from recovery.verify.settle.outline import Outline
from recovery.verify.verify import Verification, verify

IN_PROGRESS = "in progress"
BEHIND = "it lies behind the messages that were in their queues and in the index when the comparison began"
GROWN = "entries were added to the index file while it was compared, and it is right"
EXPIRED = "its log file was deleted while it was compared"
UNCLEANED = (
    "a running broker deletes files of queues and index in the rounds after it has deleted those of its log, and may "
    "not have come to these; where they stay, log files were taken away, or a reader kept the file from being deleted"
)
LEFT = "log_head_missing"
HEADS = ("log_begins_late", LEFT)
"""Findings of what is left of deleted log files in queues and index, which a broker deletes after them."""
GROWING = ("index_chain_wrong", "index_header_wrong")
"""Findings of what a broker writes over in place."""
ABOVE = ("consumer_offset_above_max", "delay_offset_above_max")
REACHED = "messages came to the queue while it was compared, and it has come as far as the offset"
LATER = "checkpoint_later_than_data"
REACHED_TIME = "messages came to the log while it was compared, and it has come as far as the checkpoint"
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
        dispatched: messages that start before this physical offset are in their queues and in the index.
        log_start: where the log's first file starts, a physical offset.
    """

    listed: str
    appended: tuple[FileState | None, ...]
    dispatched: int = field(compare=False, default=0)
    log_start: int = field(compare=False, default=0)

    @classmethod
    def of(cls, store: Store) -> Moment:
        """The store as it was listed, and its newest files as they are now."""
        listed = sorted((str(file.path), file.size, file.mtime_ns) for file in store.files())
        newest = (*store.commitlog[-APPENDED:], *store.index[-1:])
        return cls(
            hashlib.sha256(repr(listed).encode("utf-8", "surrogatepass")).hexdigest(),
            tuple(map(state_of, newest)),
            dispatched_before(store),
            store.log_start,
        )


@dataclass(frozen=True, slots=True)
class SlicedPass:
    """The first pass over a log, made in slices: when it began, and what each slice found, in log order."""

    since: Moment
    outlines: Sequence[Outline]


def verify_in_motion(store: Store, known: StoreKnowledge, until: int | None = None) -> Verification:
    """Every disagreement of a store that a broker may be writing to, as far as it is not one on its way.

    `until`: of a store that is written to, messages from this physical offset on are in progress.
    """
    since = Moment.of(store)
    return confirmed(verify(store, known), store, known, since, until)


def confirmed(
    found: Verification, store: Store, known: StoreKnowledge, since: Moment, until: int | None = None
) -> Verification:
    """What holds of a verification that began at `since`: all of it where the store stands still.

    Else what lies after the messages that were dispatched by then, or after `until`, is in progress, as long as
    dispatch goes on. Of what is left the store is verified again, until a look finds only what the look before found,
    with the same evidence, or the store stood still while it was looked at; three times at most. All that the last look
    found stays a finding, also where its bytes were written over meanwhile; what no other look found is marked in its
    evidence. What only earlier looks found becomes a state that is explained.
    """
    found = _without_uncleaned(found, store, known)
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
        found = without_progress(found, now, known, since, moment, until)
        if look == LOOKS - 1 or not found.findings:
            break
        earlier += found.findings
        told = {(_cause(finding), finding.evidence) for finding in found.findings}
        found, since = _without_uncleaned(verify(now, known), now, known), moment
        is_settled = all((_cause(finding), finding.evidence) in told for finding in found.findings)
    return found if not earlier else _settled(found, earlier, holds=is_settled)


def without_progress(
    found: Verification, now: Store, known: StoreKnowledge, since: Moment, moment: Moment, until: int | None = None
) -> Verification:
    """A look between two moments of a store that was written to: what is on its way is explained."""
    if moment.dispatched <= since.dispatched:
        return found
    start = since.dispatched if until is None else min(until, since.dispatched)
    behind = range(start, log_end_from(now, moment.dispatched))
    grown = right_by_now(now, (f.places[0] for f in found.findings if f.kind in GROWING and f.places))
    expired = range(since.log_start, moment.log_start)
    whys = {finding: why for finding in found.findings if (why := _why_passing(finding, grown, expired, behind))}
    reached = reached_by_now(now, (finding.span for finding in found.findings if finding.kind in ABOVE))
    later = [finding for finding in found.findings if finding.kind == LATER]
    whys |= dict.fromkeys(later, REACHED_TIME) if later and checkpoint_is_reached_by_now(now) else {}
    whys |= {finding: REACHED for finding in found.findings if finding.kind in ABOVE and finding.span in reached}
    return _without(found, whys | _uncleaned(found, now, known))


def _without_uncleaned(found: Verification, store: Store, known: StoreKnowledge) -> Verification:
    """Without what a broker that runs on the store has yet to delete, also where it writes nothing."""
    return _without(found, _uncleaned(found, store, known) if is_running(store.root) else {})


def _uncleaned(found: Verification, store: Store, known: StoreKnowledge) -> dict[Finding, str]:
    """Findings of files that the cleaner of a running broker may not have come to yet, each with why it is none."""
    left = [finding for finding in found.findings if finding.kind == LEFT]
    return dict.fromkeys(left, UNCLEANED) if left and cleaner_is_due(store, known.settings) else {}


def _without(found: Verification, whys: Mapping[Finding, str]) -> Verification:
    if not whys:
        return found
    return replace(
        found,
        findings=tuple(finding for finding in found.findings if finding not in whys),
        explained=(*found.explained, *(_explained(finding, why) for finding, why in whys.items())),
    )


def _why_passing(finding: Finding, grown: Collection[Place], expired: range, behind: range) -> str | None:
    """Why a finding is only of something on its way; None where it is not.

    Args:
        grown: places that are right by now.
        expired: physical offsets of the files that were deleted during the look.
        behind: physical offsets of messages that were not yet dispatched. After the log's end there is none: a broker
            dispatches what the log has.
    """
    if finding.kind in HEADS and expired:
        return EXPIRED
    if (start := finding.span.physical_offset) is not None:
        return BEHIND if start in behind else EXPIRED if start in expired else None
    return GROWN if finding.kind in GROWING and finding.places and finding.places[0] in grown else None


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
        explained=(*last.explained, *(_explained(finding, GONE) for finding in gone.values())),
    )


def _cause(finding: Finding) -> tuple[object, ...]:
    """What makes two findings of two verifications the same: the rule, the queue, and the place.

    What stands at the place is no part of it: a broker that writes there does not take back what is wrong.
    """
    place, span = next(iter(finding.places), None), finding.span
    where = (span.queue_offset, span.physical_offset) if place is None else (place.file, place.file_pos)
    return finding.kind, span.topic, span.queue_id, where


def _explained(passing: Finding, why: str) -> Explained:
    return Explained(IN_PROGRESS, f"{passing.kind}: {why}", passing.span, passing.places)
