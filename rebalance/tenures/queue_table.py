"""One process -> the tenures of its process queue table: which queue it held, from when to when, as tightly as the
record proves.

A process's table changes only in its rounds, and every clustering round asks a broker for the member list. Between two
rounds one sighting of a queue (pull, commit, renewal) therefore speaks for the whole time between them. A round that
adds a queue asks for its start offset; one that removes it commits it a last time; a push consumer's round that
changed a topic ends with a new subVersion in a heartbeat. Where none of this is on record the window stays wide.
Source: RebalanceImpl#rebalanceByTopic, #updateProcessQueueTableInRebalance, RebalancePushImpl#messageQueueChanged.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from rebalance.facts import Evidence
from rebalance.model.message_queue import MessageQueue
from rebalance.model.timing import LATE_COMMIT_MS, ROUND_MS, SETTLED_MS, TOGETHER_MS
from rebalance.processes.connection import ADDING, ListAnswer, Witness, WitnessKind
from rebalance.processes.life import Life
from rebalance.processes.process import Process
from rebalance.tenures.persist_runs import Commit, PersistRuns
from rebalance.tenures.rounds import Rounds, held_until

_QUERY, _COMMIT, _PULL = WitnessKind.QUERY, WitnessKind.COMMIT, WitnessKind.PULL
_ADDED, _REMOVED = WitnessKind.ADDED, WitnessKind.REMOVED

Stay = list[Witness]
"""Sightings of one queue with no removal provable between them, in time order; never empty."""


@dataclass(slots=True, eq=False)
class Tenure:
    """A queue in one process's table.

    None: `begin_earliest` before the record, `end_latest` not known to have ended.
    """

    queue: MessageQueue
    life: Life
    begin_earliest: int | None
    begin_latest: int
    end_earliest: int
    end_latest: int | None
    start_queue_offset: int | None
    begin_evidence: Evidence
    end_evidence: Evidence
    begin_list: ListAnswer | None = None
    end_list: ListAnswer | None = None

    @property
    def process(self) -> Process:
        return self.life.process


class QueueTable:
    """Reads the tenures out of one life.

    Attributes:
        life: the one given, which now knows whether rounds of it are missing.
    """

    def __init__(self, life: Life, down: Mapping[str, Sequence[tuple[int, int]]]) -> None:
        """`down`: per broker name the spans (from, until) in which it could not be talked to."""
        self.process = life.process
        self._down = down
        self._clock = Rounds(life)
        self._blind = self._clock.misses_rounds([span for spans in down.values() for span in spans])
        self.life = replace(life, rounds_missing=True) if self._blind else life
        self._stays: dict[MessageQueue, list[Stay]] = {}
        self._runs: dict[str, PersistRuns] = {}

    def tenures(self) -> list[Tenure]:
        """Tenures ordered by queue, then by begin."""
        left = self.process.left_by_ms  # a round under way may still add a queue after it
        for queue in sorted(self.process.witnesses, key=lambda q: q.order):
            seen = self.process.witnesses[queue]
            if left is not None and seen[-1].at_ms >= left:
                seen = [witness for witness in seen if witness.at_ms < left or witness.kind in ADDING]
            if seen:
                self._stays[queue] = self._split(queue.topic, seen)
        self._runs = {broker: PersistRuns(commits) for broker, commits in self._commits().items()}
        tenures: list[Tenure] = []
        hidden: list[Tenure] = []
        for queue, spans in self._stays.items():
            for index, span in enumerate(spans):
                following = spans[index + 1][0] if index + 1 < len(spans) else None
                tenure = self._begin(queue, span)
                tenures.append(tenure)
                if not self._end(tenure, span, following):
                    hidden.append(tenure)
        self._end_hidden(hidden, tenures)
        for tenure in tenures:
            self._widen_first_end(tenure)
        if self.process.ordered:
            for tenure in tenures:
                self._widen_ordered_end(tenure)
        if self.process.pulls_by_hand:
            for tenure in tenures:
                tenure.end_earliest = min(tenure.end_earliest, tenure.begin_latest)
        return tenures

    # ---- spans

    def _split(self, topic: str, witnesses: Sequence[Witness]) -> list[Stay]:
        last = witnesses[0]
        span = [last]
        spans = [span]
        for witness in witnesses[1:]:
            if last.kind is _REMOVED:
                ends = witness.kind in ADDING or witness.at_ms > last.at_ms + LATE_COMMIT_MS
                if not ends:
                    continue
            else:
                ends = witness.kind is _QUERY and self._may_return(topic, span, witness.at_ms)
            if ends:
                span = []
                spans.append(span)
            span.append(witness)
            last = witness
        return spans

    def _may_return(self, topic: str, span: Stay, query_ms: int) -> bool:
        """Whether a queue last seen at the span's end can have left before the start-offset query at `query_ms`.

        Else the question is idle: DefaultMQPushConsumerImpl#consumerRunningInfo asks for offsets never stored.
        """
        if self.process.logged_at(query_ms):
            return False  # its log would tell
        if self._blind or self._as_the_record_began(span[-1]):
            return True
        own_round = self._clock.round_of(query_ms)
        if own_round is None or not self._clock.may_have_changed(topic, own_round):
            return False
        return bool(self._clock.leaving_rounds(topic, span[0], span[-1], own_round.at_ms - 1))

    # ---- begin

    def _begin(self, queue: MessageQueue, span: Stay) -> Tenure:
        first, life, end = span[0], self.life, self.life.end
        begin_list = self._clock.round_of(first.at_ms) if first.kind is _QUERY else None
        tenure = Tenure(
            queue, life, first.at_ms, first.at_ms + first.late_ms, end.earliest_ms, end.latest_ms,
            first.queue_offset, first.evidence, end.evidence, begin_list,
        )  # fmt: skip
        if begin_list is not None:
            tenure.begin_latest = self._added_by(queue.topic, span)
        elif first.kind is not _ADDED:
            tenure.begin_earliest = self.process.first_ms if life.seen_from_start else None
            if not life.seen_from_start and not self._blind and not first.late_ms:
                tenure.begin_latest = min(first.at_ms, self.process.told_from_ms)
        return tenure

    def _added_by(self, topic: str, span: Stay) -> int:
        """The first proof that the queue asked for at the span's begin is in the table."""
        first_ms = span[0].at_ms
        stamp, asked_ms = self._clock.next_stamp(topic, first_ms), self.process.lists.next_asked_ms(first_ms)
        proofs = [] if stamp is None else [stamp.at_ms]
        if len(span) > 1:
            proofs.append(span[1].at_ms)
        if asked_ms is not None and asked_ms >= first_ms:
            proofs.append(asked_ms)
        return min(proofs, default=max(first_ms, self.process.last_ms))

    # ---- end

    def _end(self, tenure: Tenure, span: Stay, following: Witness | None) -> bool:
        """Sets the end if sightings and commits show it; False: only hidden signs, or the process's own end, can
        tell.
        """
        last, topic = span[-1], tenure.queue.topic
        if last.kind is _REMOVED:
            tenure.end_earliest, tenure.end_latest = last.at_ms, last.at_ms + last.late_ms
            tenure.end_evidence = last.evidence
            return True
        until = self._absent_ms(tenure.queue, span)
        back: ListAnswer | None = None
        if following is not None:
            until = following.at_ms if until is None else min(until, following.at_ms)
            back = self._clock.round_of(following.at_ms)
        if until is None:
            return False
        if self._blind:
            tenure.end_earliest, tenure.end_latest, tenure.end_evidence = held_until(last), until, last.evidence
            return True
        rounds = self._clock.leaving_rounds(topic, span[0], last, until if back is None else min(until, back.at_ms - 1))
        if not rounds and following is None and self.life.seen_from_start:
            return False  # no round, no removal: the commit is late or lost
        farewell = self._is_farewell(tenure.queue, span)
        if farewell and rounds and self._clock.commits_into(topic, rounds[0], last.at_ms):
            rounds = rounds[:1]
        lower = 0 if farewell else held_until(last)
        tenure.end_earliest = max(rounds[0].at_ms, lower) if rounds else held_until(last)
        tenure.end_latest = (
            max(tenure.end_earliest, min(until, self._clock.done_by(topic, rounds[-1]))) if rounds else until
        )
        tenure.end_list = rounds[0] if len(rounds) == 1 else None
        tenure.end_evidence = rounds[0].evidence if rounds else last.evidence
        return True

    def _absent_ms(self, queue: MessageQueue, span: Stay) -> int | None:
        """The first persistAll run after the span's last sighting that would have named the queue and did not."""
        runs = self._runs.get(queue.broker_name)
        absent_ms = None if runs is None else runs.first_without(queue, span[-1].at_ms)
        if absent_ms is None:
            return None
        told = any(w.kind is _COMMIT or (w.kind is _QUERY and w.queue_offset is not None) for w in span)
        return absent_ms if told else None

    def _is_farewell(self, queue: MessageQueue, span: Stay) -> bool:
        """Whether the last sighting is the commit of a removal: no queue that stayed was committed with it."""
        if span[-1].kind is not _COMMIT:
            return False
        run = self._runs[queue.broker_name].at(span[-1].at_ms)
        return run is not None and span[-1].at_ms <= run.last_ms and not run.periodic and queue in run.queues

    def _commits(self) -> dict[str, list[Commit]]:
        by_broker: dict[str, list[Commit]] = {}
        for queue, spans in self._stays.items():
            commits = by_broker.setdefault(queue.broker_name, [])
            for witnesses in spans:
                stayed_ms = witnesses[-1].at_ms - TOGETHER_MS
                commits += [(w.at_ms, queue, w.at_ms < stayed_ms) for w in witnesses if w.kind is _COMMIT]
        return by_broker

    def _widen_first_end(self, tenure: Tenure) -> None:
        """A queue seen only as the record begins may have left in the round that was then under way."""
        last = self._stays[tenure.queue][0][-1]
        if tenure.begin_earliest is None and self._as_the_record_began(last):
            tenure.end_earliest = min(tenure.end_earliest, max(held_until(last), tenure.begin_latest))

    def _as_the_record_began(self, last: Witness) -> bool:
        return not self.life.seen_from_start and last.at_ms <= self.process.first_ms + ROUND_MS

    def _widen_ordered_end(self, tenure: Tenure) -> None:
        """An ordered queue is dropped in one round and may leave the table in a later one, its listener done."""
        if tenure.end_list is not None:
            pulled = (
                w.at_ms
                for w in self.process.witnesses[tenure.queue]
                if w.kind is WitnessKind.PULL and w.at_ms < tenure.end_list.at_ms
            )
            dropped_ms = max(self._clock.same_members_since(tenure.end_list), max(pulled, default=0))
            tenure.end_earliest = min(tenure.end_earliest, max(dropped_ms, tenure.begin_latest))

    # ---- ends without a sighting

    def _end_hidden(self, hidden: list[Tenure], tenures: Iterable[Tenure]) -> None:
        """Ends that only a subVersion tells: a changed topic whose change no visible gain or loss explains."""
        if self._blind:
            for tenure in hidden:
                tenure.end_earliest = held_until(self._last(tenure))
            return
        for topic in sorted({tenure.queue.topic for tenure in hidden}):
            open_ones = [t for t in hidden if t.queue.topic == topic]
            if self.process.stamped and topic in self.process.versions:
                self._end_by_stamps(topic, open_ones, [t for t in tenures if t.queue.topic == topic])
            else:
                self._end_by_rounds(open_ones)

    def _end_by_rounds(self, open_ones: list[Tenure]) -> None:
        """No stamps: any round after the last sighting may have taken the queue."""
        for tenure in open_ones:
            if not self.process.broadcasting:
                self._may_end_from(tenure, self._clock.candidates(self._last(tenure), self.process.last_ms))

    def _end_by_stamps(self, topic: str, open_ones: list[Tenure], tenures: list[Tenure]) -> None:
        explained = {t.begin_list for t in tenures} | {t.end_list for t in tenures}
        until_ms, stays = self.process.last_ms, [self._stays[tenure.queue][-1] for tenure in open_ones]
        rounds_of = self._clock.leaving_rounds
        leaving = {t.queue: rounds_of(topic, s[0], s[-1], until_ms) for t, s in zip(open_ones, stays, strict=True)}
        for tenure in open_ones:
            rounds = leaving[tenure.queue]
            suspects = [queue for queue, others in leaving.items() if rounds and rounds[0] in others]
            stamp = self._clock.stamp_of(topic, rounds[0]) if rounds else None
            unexplained = bool(rounds) and rounds[0] not in explained
            left = unexplained and (len(suspects) == 1 or self._all_down(suspects, rounds[0].at_ms))
            if stamp is not None and (left or self._said_farewell(tenure, rounds[0])):
                tenure.end_earliest, tenure.end_latest = rounds[0].at_ms, stamp.at_ms
                tenure.end_list, tenure.end_evidence = rounds[0], rounds[0].evidence
            else:
                self._may_end_from(tenure, rounds)

    def _said_farewell(self, tenure: Tenure, answer: ListAnswer) -> bool:
        """Whether a queue was committed in the round that changed its topic, and never again by a process that lived
        on.
        """
        last = self._last(tenure)
        lived_on = self.process.last_ms >= last.at_ms + SETTLED_MS
        return lived_on and last.kind is _COMMIT and self._clock.commits_into(tenure.queue.topic, answer, last.at_ms)

    def _all_down(self, queues: Iterable[MessageQueue], at_ms: int) -> bool:
        """Whether every queue is on a broker that was away: such a broker leaves the route as a whole."""
        return all(any(a <= at_ms <= b for a, b in self._down.get(queue.broker_name, ())) for queue in queues)

    def _may_end_from(self, tenure: Tenure, rounds: list[ListAnswer]) -> None:
        last_ms = held_until(self._last(tenure))
        end = self.life.end
        tenure.end_earliest = max(rounds[0].at_ms, last_ms) if rounds else max(end.earliest_ms, last_ms)
        tenure.end_latest = end.latest_ms

    def _last(self, tenure: Tenure) -> Witness:
        return self._stays[tenure.queue][-1][-1]
