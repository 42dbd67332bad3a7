"""The rounds of one process as a clock: which round a request belongs to, and what a round can have changed.

Source: RebalanceImpl#rebalanceByTopic asks for the member list first; RebalancePushImpl#messageQueueChanged ends a
    round that changed a topic with a new subVersion and a heartbeat.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import pairwise

from rebalance.facts import NO_EVIDENCE, Evidence
from rebalance.model.frozen import frozen
from rebalance.model.span import EVER
from rebalance.model.timing import (
    FAREWELL_MS,
    LATE_COMMIT_MS,
    LISTLESS_MS,
    ROUND_MS,
    SAME_MEMBERS_MS,
    SANE_CLOCK_MS,
    SLIP_AGREED_MS,
)
from rebalance.processes.connection import ADDING, ListAnswer, Witness, WitnessKind
from rebalance.processes.life import Life
from rebalance.processes.process import Process

_QUERY, _COMMIT = WitnessKind.QUERY, WitnessKind.COMMIT


@frozen()
class Stamp:
    """A new subVersion of a topic: the process's queues of that topic changed at `at_ms`, heard by a broker at
    `heard_ms`.

    Source: RebalancePushImpl#messageQueueChanged sets it at the end of every round that changed the topic, then
        heartbeats.
    """

    at_ms: int
    heard_ms: int
    evidence: Evidence


_UNHEARD = Stamp(EVER, EVER, NO_EVIDENCE)
"""The stamp of a change that a round may have made and that no later request of the process shows."""


def stamps_of(life: Life, topic: str) -> list[Stamp]:
    """The instants at which a push consumer's queues of a topic changed, on the broker's clock.

    The first subVersion a process ever sends is the time its subscription was built, not a change; the first one heard
    of a process that was there before the record began is a change at its own time.
    """
    heard = life.process.versions.get(topic, [])
    slip = _clock_slip(life.process)
    stamps = [] if life.seen_from_start else [Stamp(h.sub_version + slip, h.heard_ms, h.evidence) for h in heard[:1]]
    for before, now in pairwise(heard):
        at_ms = now.sub_version + slip
        if not before.heard_ms - SANE_CLOCK_MS <= at_ms <= now.heard_ms:
            at_ms = now.heard_ms
        stamps.append(Stamp(at_ms, now.heard_ms, now.evidence))
    return stamps


def _clock_slip(process: Process) -> int:
    """Broker's clock minus the client's, ms, with the least delay between a change and its heartbeat in it.

    One late heartbeat looks like a slow client clock: a large slip counts only when several changes agree on it.
    """
    slips = sorted(h.heard_ms - h.sub_version for versions in process.versions.values() for h in versions[1:])
    if not slips:
        return 0
    agreed = len(slips) > 2 and slips[2] - slips[0] < SLIP_AGREED_MS
    return slips[0] if slips[0] < SLIP_AGREED_MS or agreed else 0


@frozen()
class _Changes:
    """The rounds that changed a topic, or may have, in time order: when each was answered, when its change was made."""

    rounds: list[ListAnswer]
    instants: list[int]
    changed_ms: list[int]
    members: set[ListAnswer]


class Rounds:
    """Answers questions about the rounds of one process."""

    def __init__(self, life: Life) -> None:
        self._life = life
        self.process = process = life.process
        self.stamps = {topic: stamps_of(life, topic) for topic in process.versions}
        self._stamped_ms = {topic: [stamp.at_ms for stamp in stamps] for topic, stamps in self.stamps.items()}
        self._requests = sorted(
            {w.at_ms for witnesses in process.witnesses.values() for w in witnesses if w.kind is _QUERY}
            | {answer.at_ms for answer in process.lists}
        )
        self._unbroken_since = _unbroken_since(self._requests)
        self._stamp_after: dict[str, dict[int, Stamp | None]] = {}
        self._changes: dict[str, _Changes | None] = {}
        self._round_of: dict[int, ListAnswer | None] = {}

    def misses_rounds(self, excused: Sequence[tuple[int, int]]) -> bool:
        """Whether rounds of the process are not on record: it asked for lists elsewhere, where nothing was captured.

        Signs: a change no list came before, a start offset asked for outside a round, or, of a process whose changes
        leave no stamp, too long without any list.
        `excused`: spans in which lists cannot be expected (a broker was down).
        """
        process = self.process
        if process.broadcasting or process.has_log or process.pulls_by_hand:
            return False
        if not process.lists:
            return bool(process.witnesses)
        changes = [stamp.at_ms for stamps in self.stamps.values() for stamp in stamps]
        gains = [w[0].at_ms for w in process.witnesses.values() if w[0].kind is WitnessKind.QUERY]
        born = process.lists[0].at_ms
        if any(self.round_of(at_ms) is None for at_ms in changes + gains if self._life.seen_from_start or at_ms > born):
            return True
        if process.stamped:
            return False
        pauses = [*excused, *self._life.silences()]
        asked = [answer.asked_at_ms for answer in process.lists]
        return any(
            end - begin > LISTLESS_MS and not any(a < end and b > begin for a, b in pauses)
            for begin, end in pairwise(asked)
        )

    def round_of(self, at_ms: int) -> ListAnswer | None:
        """The list answer whose round a request at `at_ms` belongs to: no pause longer than ROUND_MS between its
        requests.
        """
        known = self._round_of
        if at_ms not in known:
            known[at_ms] = self._unbroken_round(at_ms)
        return known[at_ms]

    def _unbroken_round(self, at_ms: int) -> ListAnswer | None:
        answer = self.process.lists.last_before(at_ms)
        if answer is None:
            return None
        last = bisect_right(self._requests, at_ms) - 1
        unbroken = at_ms - self._requests[last] <= ROUND_MS and self._unbroken_since[last] <= answer.at_ms
        return answer if unbroken else None

    def candidates(self, last: Witness, until_ms: int) -> list[ListAnswer]:
        """Rounds after a sighting, and the one it may itself belong to, up to `until_ms`."""
        return self.process.lists.between(self._first_candidate_ms(last), until_ms)

    def _first_candidate_ms(self, last: Witness) -> int:
        """A commit that is handled late may belong to the round of a topic before the one then under way."""
        sent_ms = held_until(last)
        before = self.process.lists.last_before(sent_ms)
        return before.at_ms if before is not None and sent_ms - before.at_ms <= ROUND_MS else sent_ms

    def leaving_rounds(self, topic: str, first: Witness, last: Witness, until_ms: int) -> list[ListAnswer]:
        """Rounds up to `until_ms` that can have taken a queue of this topic first seen by `first`, last by `last`.

        Of a push consumer only those that ended with a new subVersion after the sighting; rounds too close to the
        process's last request may have ended unheard.
        """
        first_ms = self._first_candidate_ms(last)
        changes = self._changes_of(topic)
        if changes is None:
            rounds = self.process.lists.between(first_ms, until_ms)
        else:
            seen_ms = last.at_ms - LATE_COMMIT_MS if last.kind is _COMMIT else last.at_ms
            low = bisect_left(changes.instants, first_ms)
            turns = range(low, bisect_right(changes.instants, until_ms, low))
            rounds = [changes.rounds[turn] for turn in turns if changes.changed_ms[turn] >= seen_ms]
        if first.kind in ADDING and rounds and rounds[0] is self._own_first_round(first):
            return rounds[1:]  # a round does not take what it has just added
        return rounds

    def may_have_changed(self, topic: str, answer: ListAnswer) -> bool:
        """Whether the round of this answer can have added or taken a queue of the topic."""
        changes = self._changes_of(topic)
        return not answer.failed if changes is None else answer in changes.members

    def _own_first_round(self, seen: Witness) -> ListAnswer | None:
        """The round of a sighting, if it is the first that can follow the sighting."""
        own = self.round_of(seen.at_ms)
        first = self.process.lists.first_from(self._first_candidate_ms(seen))
        return own if own is not None and own is first else None

    def _changes_of(self, topic: str) -> _Changes | None:
        """None: the changes of the topic leave no stamps."""
        if topic not in self._changes:
            stamped = self.process.stamped and topic in self.process.versions
            self._changes[topic] = self._changing_rounds(topic) if stamped else None
        return self._changes[topic]

    def _changing_rounds(self, topic: str) -> _Changes:
        unheard_ms = self.process.last_ms - ROUND_MS
        rounds, changed_ms = [], []
        for answer in self.process.lists:
            if not answer.failed:
                stamp = self.stamp_of(topic, answer) if answer.at_ms < unheard_ms else _UNHEARD
                if stamp is not None:
                    rounds.append(answer)
                    changed_ms.append(stamp.at_ms)
        return _Changes(rounds, [answer.at_ms for answer in rounds], changed_ms, set(rounds))

    def stamp_of(self, topic: str, answer: ListAnswer) -> Stamp | None:
        """The change a round made to a topic, by its stamp: after the answer, before the next list was asked."""
        known = self._stamp_after.get(topic)
        if known is None:
            known = self._stamp_after[topic] = self._stamps_after(topic)
        return known[answer.at_ms]

    def _stamps_after(self, topic: str) -> dict[int, Stamp | None]:
        """By the instants of the lists."""
        stamps, stamped_ms = self.stamps.get(topic, []), self._stamped_ms.get(topic, [])
        found: dict[int, Stamp | None] = dict.fromkeys(self.process.lists.instants)
        for at_ms in found:
            index = bisect_left(stamped_ms, at_ms)
            if index < len(stamps):
                next_ms = self.process.lists.next_asked_ms(at_ms)
                if next_ms is None or stamped_ms[index] <= next_ms:
                    found[at_ms] = stamps[index]
        return found

    def next_stamp(self, topic: str, at_ms: int) -> Stamp | None:
        """The first change of a topic at or after an instant."""
        stamps = self.stamps.get(topic)
        if not stamps:
            return None
        index = bisect_left(self._stamped_ms[topic], at_ms)
        return stamps[index] if index < len(stamps) else None

    def same_members_since(self, answer: ListAnswer) -> int:
        """When the process first got the members of this answer, at most SAME_MEMBERS_MS before it."""
        since = answer
        for before in reversed(self.process.lists.between(answer.at_ms - SAME_MEMBERS_MS, answer.at_ms - 1)):
            if sorted(before.client_ids or ()) != sorted(answer.client_ids or ()):
                break
            since = before
        return since.at_ms

    def done_by(self, topic: str, answer: ListAnswer) -> int:
        """When the round of this answer was done with the topic."""
        stamp = self.stamp_of(topic, answer)
        if stamp is not None:
            return stamp.at_ms
        asked = self.process.lists.next_asked_ms(answer.at_ms)
        return self.process.last_ms if asked is None else asked

    def commits_into(self, topic: str, answer: ListAnswer, commit_ms: int) -> bool:
        """Whether a commit lies between a list answer and the change its round made."""
        stamp = self.stamp_of(topic, answer)
        return stamp is not None and answer.at_ms <= commit_ms <= stamp.at_ms + FAREWELL_MS


def held_until(last: Witness) -> int:
    """Until when a last sighting proves possession: a one-way commit may be handled well after it was sent."""
    return last.at_ms - LATE_COMMIT_MS if last.kind is _COMMIT else last.at_ms


def _unbroken_since(requests: Sequence[int]) -> list[int]:
    """For each request the first of those before it with no pause longer than ROUND_MS in between."""
    since: list[int] = []
    for before_ms, at_ms in pairwise([-EVER, *requests]):
        since.append(since[-1] if at_ms - before_ms <= ROUND_MS else at_ms)
    return since
