"""Messages that may have been consumed twice: at each change of owner, while a queue had two, and where one went back.

An owner's position only rises, but for an administrator's reset, or a stale owner's commit over a newer one.
Source: RemoteBrokerOffsetStore#updateOffset (increaseOnly), MQClientInstance#resetOffset.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from operator import attrgetter
from typing import NamedTuple

from rebalance.diagnosis.cause import WENT_BACK, Causes, sentence
from rebalance.model.message_queue import MessageQueue
from rebalance.model.span import EVER
from rebalance.model.timing import (
    ASKED_AGAIN_MS,
    FLUSH_OFFSET_MS,
    LAST_BREATH_MS,
    LATE_COMMIT_MS,
    PERSIST_MS,
    STEADY_MS,
)
from rebalance.ownership.history import GroupHistory
from rebalance.processes.connection import Witness, WitnessKind
from rebalance.processes.life import EndCause
from rebalance.tenures.queue_table import Tenure

OVERLAP = "overlap"
HAND_OVER = "hand_over"
REWIND = "rewind"
_PULL_BATCH = 32  # DefaultMQPushConsumer#pullBatchSize
_AT_MS = attrgetter("at_ms")
_COMMIT = WitnessKind.COMMIT
_PROGRESS = (_COMMIT, WitnessKind.PULL)


@dataclass(frozen=True, slots=True)
class Exposure:
    """One row: messages of a queue that two tenures may both have consumed, or one of them twice (`rewind`).

    Queue offsets: from `from_queue_offset` (None: unknown, from the oldest) up to but without `to_queue_offset` (None:
    unknown). Messages stored after `stored_before_ms` (None: not known) are out of it: the first owner had stopped.
    `from_ms` to `until_ms` (epoch ms) is when both may have consumed, or how long the hand-over took;
    None: since before the record, or still when it ended. `clients`: who had it first, who took it.
    """

    group: str
    topic: str
    broker: str
    queue_id: int
    kind: str
    from_queue_offset: int | None
    to_queue_offset: int | None
    from_ms: int | None
    until_ms: int | None
    stored_before_ms: int | None
    clients: tuple[str, str]
    cause: str


class _Sighting(NamedTuple):
    """A queue's offset in an owner's hands. `steady`: the owner had moved on from the offset that it was handed."""

    at_ms: int
    queue_offset: int
    kind: WitnessKind
    steady: bool


def exposures_of(history: GroupHistory, cause_of: Mapping[Tenure, Causes]) -> list[Exposure]:
    """Exposures of a group's clustering consumers, by queue and time; broadcasting ones consume everything by design.

    Args:
        cause_of: why each tenure began.
    """
    found: list[Exposure] = []
    for queue, tenures in history.by_queue.items():
        held = [tenure for tenure in tenures if not tenure.process.broadcasting]
        found += _of_queue(history, queue, held, cause_of)
    return found


def _of_queue(
    history: GroupHistory, queue: MessageQueue, held: list[Tenure], cause_of: Mapping[Tenure, Causes]
) -> Iterator[Exposure]:
    by_tenure = [_sightings(tenure, _taken_again(tenure, held[at + 1 :])) for at, tenure in enumerate(held)]
    seen = sorted(sighting for sightings in by_tenure for sighting in sightings)
    instants = [sighting.at_ms for sighting in seen]
    highest = list(accumulate((s.queue_offset if s.kind is _COMMIT else 0 for s in seen), max))
    limits = [_reached(t, mine, seen, instants, highest) for t, mine in zip(held, by_tenure, strict=True)]
    for index, later in enumerate(held):
        yield from _rewinds(history, later, by_tenure[index])
        start = _start_offset(history, later, by_tenure[index], seen, instants)
        begun = later.begin_earliest
        for earlier, limit in zip(held[:index], limits, strict=False):
            until = _consumed_until(earlier)
            overlapping = until is None or begun is None or begun < until
            if not overlapping and start is not None and limit is not None and limit <= start:
                continue  # handed over clean
            yield Exposure(
                history.group,
                queue.topic,
                queue.broker_name,
                queue.queue_id,
                OVERLAP if overlapping else HAND_OVER,
                start,
                limit,
                *(_both_had(earlier, later) if overlapping else (until, begun)),
                None if until is None else until + history.settle_ms,
                (earlier.life.client_id, later.life.client_id),
                sentence(cause_of[later]),
            )


def _both_had(earlier: Tenure, later: Tenure) -> tuple[int | None, int | None]:
    """The longest span in which both may have been consuming; what two stamps in the wrong order leave of it."""
    begins = [begun for begun in (earlier.begin_earliest, later.begin_earliest) if begun is not None]
    ends = [ended for ended in (_consumed_until(earlier), _consumed_until(later)) if ended is not None]
    from_ms, until_ms = max(begins, default=None), min(ends, default=None)
    if from_ms is not None and until_ms is not None and until_ms < from_ms:
        return until_ms, from_ms
    return from_ms, until_ms


def _rewinds(history: GroupHistory, tenure: Tenure, mine: Sequence[_Sighting]) -> Iterator[Exposure]:
    """Where an owner's commits went back: what it had consumed until then, it consumes again."""
    commits = [sighting for sighting in mine if sighting.kind is _COMMIT]
    for at, (before, now) in enumerate(pairwise(commits), start=2):
        if now.queue_offset < before.queue_offset and now.at_ms - before.at_ms > LATE_COMMIT_MS:
            beyond = before.queue_offset + _PULL_BATCH
            queue, client_id = tenure.queue, tenure.life.client_id
            yield Exposure(
                history.group,
                queue.topic,
                queue.broker_name,
                queue.queue_id,
                REWIND,
                now.queue_offset,
                next((s.queue_offset for s in commits[at:] if s.queue_offset >= beyond), None),
                before.at_ms,
                now.at_ms,
                now.at_ms + history.settle_ms,
                (client_id, client_id),
                WENT_BACK,
            )


def _taken_again(tenure: Tenure, later: Iterable[Tenure]) -> int:
    """When its process took the queue the next time."""
    begins = (other.begin_earliest for other in later if other.life.key == tenure.life.key)
    return min((begun for begun in begins if begun is not None), default=EVER)


def _sightings(tenure: Tenure, until_ms: int) -> list[_Sighting]:
    """What was seen of a queue while one tenure can have lasted, before its process took it again."""
    witnesses = tenure.process.witnesses.get(tenure.queue, ())
    begun = tenure.begin_latest if tenure.begin_earliest is None else tenure.begin_earliest
    low = bisect_left(witnesses, begun, key=_AT_MS)
    high = len(witnesses)
    if tenure.end_latest is not None:
        high = bisect_right(witnesses, min(tenure.end_latest + STEADY_MS, until_ms - 1), key=_AT_MS)
    steady_ms = tenure.begin_latest + STEADY_MS
    return [
        _Sighting(w.at_ms, w.queue_offset, w.kind, w.kind in _PROGRESS and w.at_ms >= steady_ms)
        for w in _told_once(witnesses[low:high])
        if w.queue_offset is not None
    ]


def _told_once(witnesses: Iterable[Witness]) -> Iterator[Witness]:
    """The witnesses without commits that two records show, the client's log and the broker's side: each counts once."""
    told: dict[int, Witness] = {}
    for witness in witnesses:
        if witness.kind is _COMMIT and witness.queue_offset is not None:
            other = told.pop(witness.queue_offset, None)
            near = other is not None and witness.at_ms - other.at_ms <= LATE_COMMIT_MS
            if near and other is not None and other.evidence.file != witness.evidence.file:
                continue
            told[witness.queue_offset] = witness
        yield witness


def _consumed_until(tenure: Tenure) -> int | None:
    """A stopped consumer's table outlives its consuming: that ends before it asks to leave."""
    left = tenure.process.left_by_ms
    if tenure.life.end.cause is EndCause.LEFT and left is not None:
        ended = left + LAST_BREATH_MS
        return ended if tenure.end_latest is None else min(ended, tenure.end_latest)
    return tenure.end_latest


def _start_offset(
    history: GroupHistory, tenure: Tenure, mine: Sequence[_Sighting], seen: Sequence[_Sighting], instants: Sequence[int]
) -> int | None:
    """The lowest offset at which the new owner can have begun: the stored offset that the broker answered, else the
    last one surely stored before.

    An ordered consumer asks again at its first pull, and may get a lower one.
    """
    begun = tenure.begin_latest if tenure.begin_earliest is None else tenure.begin_earliest
    told = [s.queue_offset for s in mine if s.kind is WitnessKind.QUERY and s.at_ms - begun <= ASKED_AGAIN_MS]
    if told:
        return min(told)
    outages = _outages(history, tenure.queue.broker_name, seen)
    for sighting in reversed(seen[: bisect_left(instants, begun - LATE_COMMIT_MS)]):
        if sighting.kind is _COMMIT and _kept(outages, sighting.at_ms, begun):
            lowered = (
                r.queue_offset
                for r in history.rollbacks
                if r.queue == tenure.queue and sighting.at_ms - LATE_COMMIT_MS <= r.at_ms <= begun + LATE_COMMIT_MS
            )
            return min(sighting.queue_offset, *lowered, sighting.queue_offset)
    return None


def _outages(history: GroupHistory, broker: str, seen: Sequence[_Sighting]) -> list[tuple[int, int]]:
    """When a broker was away (from, until). A crash tells only its end, the next start: it may have come as early as
    the queue's offset stood still, and its consumer's log goes on naming commits that nobody took.
    """
    starts = history.starts.get(broker, ())
    outages = [
        (stop, min((start for start in starts if start > stop), default=EVER)) for stop in history.stops.get(broker, ())
    ]
    after_stops = {back for _, back in outages}
    for start in starts:
        before = [] if start in after_stops else seen[: bisect_left(seen, start, key=_AT_MS)]
        if before:
            moved = max(before, key=lambda sighting: (sighting.queue_offset, -sighting.at_ms))
            outages.append((moved.at_ms - PERSIST_MS, start))
    return outages


def _kept(outages: Sequence[tuple[int, int]], committed_ms: int, until_ms: int) -> bool:
    """Whether a commit outlived the broker's stops: sent while it was up, and flushed to its file."""
    return not any(gone <= until_ms and gone - FLUSH_OFFSET_MS < committed_ms < back for gone, back in outages)


def _reached(
    tenure: Tenure,
    mine: Sequence[_Sighting],
    seen: Sequence[_Sighting],
    instants: Sequence[int],
    highest: Sequence[int],
) -> int | None:
    """An offset that a tenure cannot have passed by its end: where steady owners were after it.

    A process that was cut off may have been ahead of those that follow it by what it had pulled. Where the queue's
    offset went back, an owner tells only once it is beyond all that was under way.
    """
    until = _consumed_until(tenure)
    if until is None:
        return None
    ended = bisect_left(instants, until)
    steady = [s.queue_offset for s in seen[ended:] if s.steady]
    committed = highest[ended - 1] if ended else 0
    if steady and steady[0] < committed:
        steady = [queue_offset for queue_offset in steady if queue_offset >= committed + _PULL_BATCH]
    steady = steady[:2]
    if not steady:
        return None
    cut_off = tenure.end_list is None and tenure.process.left_by_ms is None
    own = [s.queue_offset + _PULL_BATCH for s in mine[-1:] if s.kind in _PROGRESS and cut_off]
    return max(steady + own)
