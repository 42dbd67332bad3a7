"""The broker's lock table for ordered consumption, replayed: who held a queue's lock, and who was refused.

A lock is held while renewed within 60 s; a client that dies keeps it that long. A restart of the broker frees all its
locks.
Source: RebalanceLockManager#tryLockBatch, #unlockBatch, REBALANCE_LOCK_MAX_LIVE_TIME.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from rebalance.facts import Evidence, LockAnswered, LockBatchAnswered, QueueLockDecided, UnlockBatch
from rebalance.facts.wire_and_log import told_twice
from rebalance.model.message_queue import MessageQueue
from rebalance.model.settings import Settings
from rebalance.model.timing import LISTLESS_MS

LockFact = LockBatchAnswered | UnlockBatch | QueueLockDecided


@dataclass(slots=True)
class LockHold:
    """One client's hold of one queue's lock (epoch ms). `until_ms` None: held when the record ended."""

    group: str
    queue: MessageQueue
    client_id: str
    from_ms: int
    renewed_ms: int
    until_ms: int | None
    end_cause: str | None
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class Refusal:
    """A client asked for a lock and did not get it; `holder` is who the log, or else the replay, says held it then.

    The true instant lies in [at_ms, at_ms + late_ms].
    """

    at_ms: int
    queue: MessageQueue
    client_id: str
    holder: str | None
    evidence: Evidence
    late_ms: int = 0


class LockTable:
    """Replays lock facts of one group, given in time order."""

    def __init__(self, group: str, settings: Settings, starts: Mapping[str, Sequence[int]]) -> None:
        self.holds: list[LockHold] = []
        self.refusals: list[Refusal] = []
        self._answered: list[Refusal] = []
        self._logged: list[Refusal] = []
        self._group = group
        self._max_live_ms = settings.broker_lock_max_live_time_ms
        self._starts = starts
        self._current: dict[MessageQueue, LockHold] = {}
        self._granted: list[Refusal] = []

    def replay(self, facts: Iterable[LockFact], of_clients: Iterable[LockAnswered] = ()) -> None:
        """Take in what brokers and captures tell, and the answers that clients log themselves (`of_clients`)."""
        for fact in facts:
            if isinstance(fact, LockBatchAnswered):
                self._asked(fact)
            elif isinstance(fact, UnlockBatch):
                for queue in fact.queues:
                    self._release(queue, fact.client_id, fact.at_ms)
            else:
                self._decided(fact)
        told = told_twice(self._answered, self._logged, lambda refusal: (refusal.queue, refusal.client_id))
        of_brokers = sorted((_one(answered, logged) for answered, logged in told), key=_at_ms)
        answers = [(answer.granted, _of_client(answer)) for answer in of_clients]
        refused = sorted((each for granted, each in answers if not granted), key=_at_ms)
        self.refusals = sorted((_one(*each) for each in told_twice(of_brokers, refused, _whose)), key=_at_ms)
        self._granted = [each for granted, each in answers if granted]

    def waits(self) -> Iterator[Sequence[Refusal]]:
        """The refusals of one client for one queue, one after another: until it got the lock, or asked no more."""
        granted: defaultdict[tuple[str, int, str], list[int]] = defaultdict(list)
        for each in self._granted:
            granted[_whose(each)].append(each.at_ms)
        for hold in self.holds:
            granted[hold.queue.topic, hold.queue.queue_id, hold.client_id].append(hold.from_ms)
        for instants in granted.values():
            instants.sort()
        runs: dict[tuple[MessageQueue, str], list[Refusal]] = {}
        for refusal in self.refusals:
            run = runs.setdefault((refusal.queue, refusal.client_id), [])
            if run:
                got, before_ms = granted[_whose(refusal)], run[-1].at_ms
                is_granted = bisect_right(got, before_ms) < bisect_right(got, refusal.at_ms)
                if is_granted or refusal.at_ms - before_ms > LISTLESS_MS:
                    yield run
                    run = runs[refusal.queue, refusal.client_id] = []
            run.append(refusal)
        yield from runs.values()

    def _asked(self, fact: LockBatchAnswered) -> None:
        if fact.client_id is None or fact.granted is None:
            return
        for queue in fact.asked:
            if queue in fact.granted:
                self._grant(queue, fact.client_id, fact.at_ms, fact.evidence)
            else:
                holder = self._holder(queue, fact.at_ms)
                self._answered.append(Refusal(fact.at_ms, queue, fact.client_id, holder, fact.evidence))

    def _decided(self, fact: QueueLockDecided) -> None:
        if fact.decision in ("locked", "taken_over"):
            self._grant(fact.queue, fact.client_id, fact.at_ms, fact.evidence)
        elif fact.decision == "refused":
            holder = fact.other_client_id or self._holder(fact.queue, fact.at_ms)
            self._logged.append(Refusal(fact.at_ms, fact.queue, fact.client_id, holder, fact.evidence, fact.late_ms))
        elif fact.decision == "unlocked":
            self._release(fact.queue, fact.client_id, fact.at_ms)

    def _grant(self, queue: MessageQueue, client_id: str, at_ms: int, evidence: Evidence) -> None:
        hold = self._live(queue, at_ms)
        if hold is not None and hold.client_id == client_id:
            hold.renewed_ms = at_ms
            return
        if hold is not None:
            self._finish(hold, at_ms, "taken over")
        self._current[queue] = LockHold(self._group, queue, client_id, at_ms, at_ms, None, None, evidence)
        self.holds.append(self._current[queue])

    def _holder(self, queue: MessageQueue, at_ms: int) -> str | None:
        hold = self._live(queue, at_ms)
        return hold.client_id if hold is not None else None

    def _release(self, queue: MessageQueue, client_id: str | None, at_ms: int) -> None:
        hold = self._live(queue, at_ms)
        if hold is not None and hold.client_id == client_id:
            self._finish(hold, at_ms, "unlocked")

    def _live(self, queue: MessageQueue, at_ms: int) -> LockHold | None:
        """The hold in force at an instant; one that ran out or was lost in a restart is closed first."""
        hold = self._current.get(queue)
        if hold is None:
            return None
        restarts = [start for start in self._starts.get(queue.broker_name, ()) if hold.renewed_ms < start <= at_ms]
        if restarts:
            self._finish(hold, restarts[0], "broker restarted")
        elif at_ms - hold.renewed_ms > self._max_live_ms:
            self._finish(hold, hold.renewed_ms + self._max_live_ms, "expired")
        return self._current.get(queue)

    def _finish(self, hold: LockHold, at_ms: int, cause: str) -> None:
        hold.until_ms, hold.end_cause = at_ms, cause
        del self._current[hold.queue]


def _at_ms(refusal: Refusal) -> int:
    return refusal.at_ms


def _of_client(answer: LockAnswered) -> Refusal:
    """Of several consumers in one log nothing tells which asked."""
    from_ms, late_ms = answer.at_ms - answer.early_ms, answer.early_ms + answer.late_ms
    return Refusal(from_ms, answer.queue, answer.client_id or "", None, answer.evidence, late_ms)


def _whose(refusal: Refusal) -> tuple[str, int, str]:
    """A broker's log may call the broker otherwise than its clients do."""
    return refusal.queue.topic, refusal.queue.queue_id, refusal.client_id


def _one(answered: Refusal | None, logged: Refusal | None) -> Refusal:
    """The answer has the exact instant, the broker's line the holder's name."""
    if answered is None or logged is None:
        told = answered or logged
        assert told is not None
        return told
    return replace(answered, holder=logged.holder or answered.holder)
