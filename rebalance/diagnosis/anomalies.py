"""What is wrong with a history of ownership: two owners, no owner, owners that stall, queues that flap, offsets that
go back.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from operator import attrgetter

from rebalance.diagnosis.anomaly import (
    COMMIT_ROLLBACK,
    DOUBLE_OWNER,
    FLAPPING,
    LOCK_LATE,
    LOCK_STALL,
    OFFSET_REWIND,
    OFFSET_SKIP,
    ORPHAN,
    SILENT_OWNER,
    SUBSCRIPTIONS_DIFFER,
    Anomaly,
)
from rebalance.diagnosis.cause import (
    DUPLICATE_CLIENT_ID,
    LOCK_HELD,
    LOCK_HELD_BY,
    LOCK_NOT_MARKED,
    STRATEGY_DIFFERS,
    SUBSCRIPTION_DIFFERS,
    VIEWS_DIFFER,
    Cause,
    sentence,
)
from rebalance.diagnosis.causes import RoundCauses
from rebalance.diagnosis.incidents import CLIENT_SILENT, QUEUES_ADDED, Incident
from rebalance.diagnosis.rollbacks import rollback_causes
from rebalance.diagnosis.subscriptions import unequal_subscriptions
from rebalance.diagnosis.targets import Targets, differing_strategies
from rebalance.model.message_queue import MessageQueue
from rebalance.model.span import EVER, Span, merged
from rebalance.model.timing import FLAPPING_MS, LATE_COMMIT_MS, LOCK_STALL_MS, ORPHAN_MS, OVERLAP_MS
from rebalance.ownership.history import GroupHistory
from rebalance.processes.broker_runs import BROKER_STARTED, BROKER_STOPPED
from rebalance.processes.connection import WitnessKind
from rebalance.tenures.queue_table import Tenure

FLAPPING_CHANGES = 4

_AT_MS = attrgetter("at_ms")
_COMMIT, _PULL = WitnessKind.COMMIT, WitnessKind.PULL


class Anomalies:
    """Finds the anomalies of one group. Only what is certain counts: an uncertain overlap is no double owner."""

    def __init__(
        self, history: GroupHistory, incidents: Sequence[Incident], causes: RoundCauses, targets: Callable[[], Targets]
    ) -> None:
        """`targets` is asked only when there is an anomaly to explain."""
        self._history = history
        self._incidents = incidents
        self._causes = causes
        self._targets = targets
        self._membered_of: dict[str, list[Span]] = {}
        self._commits: defaultdict[MessageQueue, list[tuple[int, int]]] = defaultdict(list)
        for life in history.lives:
            for queue, witnesses in life.process.witnesses.items():
                self._commits[queue] += [
                    (w.at_ms, w.queue_offset) for w in witnesses if w.kind is _COMMIT and w.queue_offset is not None
                ]

    def find(self) -> list[Anomaly]:
        """All anomalies in time order."""
        found: list[Anomaly] = []
        if not self._history.broadcasting:
            for queue, held in self._history.by_queue.items():
                found += self._double_owners(queue, held)
                found += self._flapping(queue, held)
                found += self._start_offsets(queue, held)
            for queue in sorted(self._history.first_use, key=lambda q: q.order):
                found += self._orphans(queue, self._history.by_queue.get(queue, ()))
        found += self._silent_owners()
        found += self._lock_stalls()
        found += self._late_locks()
        found += self._rollbacks()
        found += self._subscriptions()
        return sorted(
            found, key=lambda a: (a.from_ms, a.kind, a.topic or "", a.broker or "", a.queue_id or 0, a.clients)
        )

    def _anomaly(
        self, kind: str, queue: MessageQueue, span: tuple[int, int | None], clients: Iterable[str],
        cause: Cause | str, detail: str = "", evidence: object = "",
    ) -> Anomaly:  # fmt: skip
        return Anomaly(
            self._history.group, kind, queue.topic, queue.broker_name, queue.queue_id, *span,
            tuple(sorted(set(clients))), str(cause), detail, str(evidence),
        )  # fmt: skip

    def _subscriptions(self) -> Iterator[Anomaly]:
        for one in unequal_subscriptions(self._history):
            where = self._history.group, SUBSCRIPTIONS_DIFFER, one.topic, None, None
            cause, clients = str(Cause(SUBSCRIPTION_DIFFERS)), tuple(one.clients)
            yield Anomaly(*where, *one.span, clients, cause, one.told, str(one.evidence))

    # ---- two owners

    def _double_owners(self, queue: MessageQueue, held: Sequence[Tenure]) -> Iterator[Anomaly]:
        for index, one in enumerate(held):
            for other in held[index + 1 :]:
                if other.begin_latest >= one.end_earliest:
                    break  # later ones began later still
                if other.life.key == one.life.key:
                    continue
                span = (max(one.begin_latest, other.begin_latest), min(one.end_earliest, other.end_earliest))
                if span[1] - span[0] >= OVERLAP_MS:
                    cause = self._overlap_cause(one, other, span)
                    clients = (one.life.client_id, other.life.client_id)
                    yield self._anomaly(DOUBLE_OWNER, queue, span, clients, cause, evidence=other.begin_evidence)

    def _overlap_cause(self, one: Tenure, other: Tenure, span: Span) -> Cause:
        lives = one.life, other.life
        if one.life.client_id == other.life.client_id:
            return Cause(DUPLICATE_CLIENT_ID)
        for life in lives:
            if any(_overlap(silence, span) for silence in life.silences()):
                return Cause(CLIENT_SILENT, (life.client_id,))
        if differing_strategies(self._targets(), lives):
            return Cause(STRATEGY_DIFFERS)
        return self._route_or(span[0], Cause(VIEWS_DIFFER))

    # ---- no owner

    def _orphans(self, queue: MessageQueue, held: Sequence[Tenure]) -> Iterator[Anomaly]:
        history = self._history
        covered = [((t.begin_earliest or 0), _latest(t)) for t in held]
        covered += [(d.from_ms or 0, d.until_ms or EVER) for d in history.doubts if queue in d.queues]
        covered += [*history.gaps, *self._lost_outages(queue.broker_name)]
        covered.append((0, max(history.first_use[queue], history.known[0])))
        for gap in _gaps(merged(covered)):
            for member in self._membered(queue.topic):
                span = (max(gap[0], member[0]), min(gap[1], member[1], history.known[1]))
                away = history.is_down(queue.broker_name, span[0])
                if span[1] - span[0] >= ORPHAN_MS and not away:
                    lost = max(
                        (t for t in held if t.end_earliest <= span[0]), key=lambda t: t.end_earliest, default=None
                    )
                    evidence = "" if lost is None else lost.end_evidence
                    yield self._anomaly(ORPHAN, queue, span, (), *self._orphan_cause(queue, span), evidence)

    def _lost_outages(self, broker: str) -> Iterator[Span]:
        """When a broker may have been down of which a hole holds the stop; its clients learn late of its return."""
        history = self._history
        late_ms = history.settings.poll_name_server_interval_ms + history.settings.rebalance_wait_interval_ms
        for begin_ms, _ in history.gaps:
            back_ms = next((start for start in history.starts.get(broker, ()) if start > begin_ms), None)
            if back_ms is not None and not any(begin_ms < stop < back_ms for stop in history.stops.get(broker, ())):
                yield begin_ms, back_ms + late_ms

    def _membered(self, topic: str) -> list[Span]:
        """Spans in which somebody was there to own the queues of a topic."""
        if topic not in self._membered_of:
            lives = self._history.lives
            subscribed = [life for life in lives if topic in life.process.versions] or lives
            self._membered_of[topic] = merged([(life.process.first_ms, life.end.earliest_ms) for life in subscribed])
        return self._membered_of[topic]

    def _orphan_cause(self, queue: MessageQueue, span: Span) -> tuple[Cause, str]:
        refused = [
            r for r in self._history.locks.refusals if r.queue == queue and span[0] <= r.at_ms <= span[1] + OVERLAP_MS
        ]
        if refused:
            return Cause(LOCK_HELD), f"{len(refused)} refusals, lock of {refused[0].holder or 'another client'}"
        lives = self._history.lives
        alive = [life for life in lives if life.process.first_ms < span[1] and life.process.last_ms > span[0]]
        ids = {life.client_id for life in alive}
        if len(ids) < len(alive):
            return Cause(DUPLICATE_CLIENT_ID), f"{len(alive)} processes, {len(ids)} ids"
        if differing_strategies(self._targets(), alive):
            return Cause(STRATEGY_DIFFERS), ""
        told = (life for life in alive if life.process.versions)
        strangers = [life.client_id for life in told if queue.topic not in life.process.versions]
        if strangers:
            return Cause(SUBSCRIPTION_DIFFERS), f"members without the topic: {', '.join(sorted(set(strangers)))}"
        return self._route_or(span[0], Cause(VIEWS_DIFFER)), ""

    def _route_or(self, at_ms: int, otherwise: Cause) -> Cause:
        settings = self._history.settings
        reach_ms = settings.poll_name_server_interval_ms + settings.rebalance_wait_interval_ms
        for incident in reversed(self._incidents):
            kinds = (QUEUES_ADDED, BROKER_STARTED, BROKER_STOPPED)
            if incident.kind in kinds and incident.earliest_ms <= at_ms <= incident.latest_ms + reach_ms:
                return Cause(incident.kind, (incident.subject,))
        return otherwise

    # ---- restless and stalled queues

    def _flapping(self, queue: MessageQueue, held: Sequence[Tenure]) -> Iterator[Anomaly]:
        """Queues that two clients take from each other again and again."""
        for index in range(len(held) - FLAPPING_CHANGES + 1):
            run = held[index : index + FLAPPING_CHANGES]
            if run[-1].begin_latest - run[0].begin_latest > FLAPPING_MS:
                continue
            owners = [t.life.key for t in run]
            swaps = all(a != b for a, b in pairwise(owners))
            if swaps and len(set(owners)) == 2:
                span = (run[0].begin_latest, run[-1].begin_latest)
                yield self._anomaly(
                    FLAPPING, queue, span, (o.client_id for o in owners), sentence(self._causes.of_begin(run[-1]))
                )
                return

    def _start_offsets(self, queue: MessageQueue, held: Sequence[Tenure]) -> Iterator[Anomaly]:
        """Take-overs that begin below what was committed before (consumed again), or beyond it (never consumed)."""
        seen = sorted(self._commits.get(queue, ()))
        highest = list(accumulate((queue_offset for _, queue_offset in seen), max))
        for tenure in held:
            before = bisect_left(seen, (tenure.begin_latest - LATE_COMMIT_MS, -1))
            first = _first_pull(tenure) if tenure.begin_list is not None and before else None
            if first is None:
                continue
            committed = highest[before - 1]
            if first != committed and (first < committed or tenure.start_queue_offset is None):
                kind = OFFSET_REWIND if first < committed else OFFSET_SKIP
                detail = f"begins at queue offset {first}, {committed} was committed"
                span = (tenure.begin_latest, tenure.begin_latest)
                clients = (tenure.life.client_id,)
                yield self._anomaly(
                    kind, queue, span, clients, sentence(self._causes.of_begin(tenure)), detail, tenure.begin_evidence
                )

    def _silent_owners(self) -> Iterator[Anomaly]:
        """Queues in the hands of a process that shows no sign of life: nobody consumes them."""
        for life in self._history.lives:
            for silence in life.silences():
                for tenure in self._history.tenures:
                    if tenure.life.key == life.key and tenure.begin_latest <= silence[0] < tenure.end_earliest:
                        span = (silence[0], min(silence[1], tenure.end_earliest))
                        seen = [w for w in life.process.witnesses[tenure.queue] if w.at_ms <= silence[0]]
                        yield self._anomaly(
                            SILENT_OWNER,
                            tenure.queue,
                            span,
                            (life.client_id,),
                            Cause(CLIENT_SILENT, (life.client_id,)),
                            evidence=seen[-1].evidence if seen else "",
                        )

    def _lock_stalls(self) -> Iterator[Anomaly]:
        """From a first refusal to the last before the client got the lock or gave up."""
        for run in sorted(self._history.locks.waits(), key=lambda run: (run[0].queue.order, run[0].client_id)):
            first, last = run[0], run[-1]
            if last.at_ms - first.at_ms < LOCK_STALL_MS:
                continue
            holders = sorted({refusal.holder for refusal in run if refusal.holder is not None})
            yield self._anomaly(
                LOCK_STALL,
                first.queue,
                (first.at_ms, last.at_ms),
                filter(None, (first.client_id, *holders)),
                Cause(LOCK_HELD_BY, (", ".join(holders) or "another client",)),
                f"{len(run)} refusals",
                first.evidence,
            )

    def _late_locks(self) -> Iterator[Anomaly]:
        """Queues whose lock was granted, and whose owner pulled nothing until it asked for all of its locks again."""
        for late in self._history.late_locks:
            until = late.marked_ms or late.waited_ms
            if until - late.granted_ms >= LOCK_STALL_MS:
                detail = f"granted at once, pulled {(until - late.granted_ms) / 1000:.1f} s later"
                if late.marked_ms is None:
                    detail = f"granted at once, {late.pulls} pulls waited, not seen to end"
                clients = () if late.client_id is None else (late.client_id,)
                span = (late.granted_ms, late.marked_ms)
                yield self._anomaly(LOCK_LATE, late.queue, span, clients, Cause(LOCK_NOT_MARKED), detail, late.evidence)

    def _rollbacks(self) -> Iterator[Anomaly]:
        for rollback, clients, cause in rollback_causes(self._history):
            yield self._anomaly(
                COMMIT_ROLLBACK,
                rollback.queue,
                (rollback.at_ms, rollback.at_ms),
                clients,
                cause,
                f"queue offset {rollback.queue_offset} after {rollback.stored_queue_offset}",
                rollback.evidence,
            )


def _first_pull(tenure: Tenure) -> int | None:
    """The queue offset an owner first asked for."""
    witnesses = tenure.life.process.witnesses[tenure.queue]
    for at in range(bisect_left(witnesses, tenure.begin_latest, key=_AT_MS), len(witnesses)):
        if witnesses[at].kind is _PULL:
            return witnesses[at].queue_offset
    return None


def _latest(tenure: Tenure) -> int:
    return EVER if tenure.end_latest is None else tenure.end_latest


def _overlap(one: Span, other: Span) -> bool:
    return max(one[0], other[0]) < min(one[1], other[1])


def _gaps(spans: list[Span]) -> list[Span]:
    """Between the spans, and after the last."""
    ends = [begin for begin, _ in spans[1:]] + [EVER]
    return [(span[1], until) for span, until in zip(spans, ends, strict=True) if until > span[1]]
