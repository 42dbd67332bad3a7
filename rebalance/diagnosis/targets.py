"""What each round should have given: targets recomputed from the member list, the queues, and the strategy that fits.

The strategy of a client is not on the wire; it is the one whose results agree with the tables the client had. The
queues a client knew are those the group had used by then, with or without the newest ones and those of brokers that
were away.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from operator import attrgetter

from rebalance.diagnosis.strategy_results import GUESSED, MemberView, QueueView, Shares
from rebalance.model.frozen import frozen
from rebalance.model.message_queue import MessageQueue, Queues
from rebalance.model.span import EVER
from rebalance.model.timing import ROUND_MS
from rebalance.ownership.history import GroupHistory
from rebalance.processes.connection import ListAnswer
from rebalance.processes.life import Life
from rebalance.processes.process import ProcessKey
from rebalance.tenures.certain_table import CertainTable
from rebalance.tenures.queue_table import Tenure

_VIEWS = 8  # how many of the latest queue lists a client may still work with


@frozen()
class Assignment:
    """One row: the recomputed target of one client for one topic, from the round answered at `at_ms` on.

    `strategy` None: no known strategy gives what the client did; the target is then that of the group's usual one.
    """

    group: str
    topic: str
    client_id: str
    process: int
    at_ms: int
    strategy: str | None
    mq_all_size: int
    cid_all_size: int
    target: Queues
    evidence: str


@frozen(eq=False)
class Settled:
    """A topic's queues of one process between two rounds, where they are certain.

    `views`: the queue lists it may have worked with, the likeliest first.
    """

    life: Life
    topic: str
    answer: ListAnswer
    until_ms: int
    observed: Queues
    members: MemberView
    views: list[QueueView]


class Targets:
    """Recomputes targets for one group."""

    def __init__(self, history: GroupHistory) -> None:
        self._history = history
        self.shares = Shares(history.group)
        self._first_use = history.first_use
        self._brokers_down = sorted(history.down)
        self._steps: dict[str, list[int]] = {}
        for queue, at_ms in sorted(self._first_use.items(), key=lambda used: used[1]):
            self._steps.setdefault(queue.topic, []).append(at_ms)
        self._views: dict[tuple[str, int, tuple[str, ...]], list[QueueView]] = {}
        self._explained: defaultdict[str, dict[Settled, QueueView | None]] = defaultdict(dict)
        self._tenures_of: dict[ProcessKey, dict[str, list[Tenure]]] = {}
        for tenure in history.tenures:
            mine = self._tenures_of.setdefault(tenure.life.key, {})
            mine.setdefault(tenure.queue.topic, []).append(tenure)
        settled_of = {life.key: list(self._settled_of(life)) for life in history.lives}
        self.settled = [settled for mine in settled_of.values() for settled in mine]
        self.strategy_of = {life.key: self._fitting(life, settled_of[life.key]) for life in history.lives}
        votes = Counter(name for name in self.strategy_of.values() if name is not None)
        self.usual = max(sorted(votes), key=lambda name: votes[name]) if votes else GUESSED[0]

    # ---- what was observed

    def _settled_of(self, life: Life) -> Iterator[Settled]:
        """One entry per round after which a topic's table was certain and something differed from the entry before."""
        process = life.process
        if process.broadcasting:
            return
        held = self._tenures_of.get(life.key, {})
        topics = (process.versions.keys() | held.keys()) - self._history.pop_topics
        tables = {topic: CertainTable(held.get(topic, ())) for topic in sorted(topics)}
        last: dict[str, tuple[object, ...]] = {}
        for answer, until in _last_of_rounds(life):
            members = self.shares.member_view(answer.client_ids or ())
            for topic, table in tables.items():
                observed = table.at(until - 1)
                state = (observed, answer.client_ids)
                if observed is not None and last.get(topic) != state:
                    last[topic] = state
                    yield Settled(life, topic, answer, until, observed, members, self.views(topic, until))

    # ---- what the queues were

    def views(self, topic: str, at_ms: int) -> list[QueueView]:
        """The queue lists a client may have known at an instant, the likeliest first."""
        steps = self._steps.get(topic, [])
        passed = bisect_right(steps, at_ms)
        away: tuple[str, ...] = ()
        if self._brokers_down:
            away = tuple(broker for broker in self._brokers_down if self._history.is_down(broker, at_ms))
        views = self._views.get((topic, passed, away))
        if views is None:
            views = self._views[topic, passed, away] = self._views_at(topic, steps, passed, away)
        return views

    def _views_at(self, topic: str, steps: list[int], passed: int, away: tuple[str, ...]) -> list[QueueView]:
        used = [q for q in self._first_use if q.topic == topic]
        now = steps[passed - 1] if passed else 0
        by_now = [q for q in used if self._first_use[q] <= now]
        ends = [a for a, b in pairwise([*steps, EVER]) if b - a > ROUND_MS]
        earlier = [[q for q in used if self._first_use[q] <= end] for end in ends[-_VIEWS:]]
        seen: dict[QueueView, None] = {}
        for view in (by_now, [q for q in by_now if q.broker_name not in away], used, *earlier):
            seen.setdefault(self.shares.queue_view(view), None)
            seen.setdefault(self.shares.queue_view(q for q in view if q.broker_name not in away), None)
        return [view for view in seen if view.queues]

    def views_now(self, topic: str, client_id: str | None, at_ms: int) -> list[QueueView]:
        """The queue lists a client may have known: what its own log says of its routes, else `views`."""
        told = [r for r in self._history.routes if r.topic == topic and r.client_id == client_id and r.at_ms <= at_ms]
        if not told:
            return self.views(topic, at_ms)
        queues = (MessageQueue(q.topic, q.broker_name, n) for q in told[-1].queues for n in range(q.read_queue_nums))
        return [self.shares.queue_view(queues)]

    def is_new_topic(self, settled: Settled) -> bool:
        """Whether a process may not have known the topic yet: it had no queue of it, and its route is polled every 30
        s.
        """
        settings = self._history.settings
        reach_ms = settings.poll_name_server_interval_ms + settings.rebalance_wait_interval_ms
        held = self._tenures_of.get(settled.life.key, {}).get(settled.topic, [])
        return settled.answer.at_ms - settled.life.process.first_ms < reach_ms and not any(
            (t.begin_earliest or 0) < settled.until_ms for t in held
        )

    # ---- what should have come out

    def target(self, name: str, settled: Settled, view: QueueView) -> Queues | None:
        """What a strategy gives a settled table's process; None if it throws (the client then keeps what it has)."""
        return self.shares.of(name, settled.life.client_id, settled.members, view)

    def target_for(self, name: str, client_id: str, members: Sequence[str], view: QueueView) -> Queues | None:
        """What a strategy gives a client for a member list; None if it throws."""
        return self.shares.of(name, client_id, self.shares.member_view(members), view)

    def explains(self, name: str, settled: Settled) -> QueueView | None:
        """The view under which a strategy gives what was observed, if any."""
        explained = self._explained[name]
        if settled not in explained:
            explained[settled] = self._explaining(name, settled)
        return explained[settled]

    def _explaining(self, name: str, settled: Settled) -> QueueView | None:
        client_id, members, observed = settled.life.client_id, settled.members, settled.observed
        for view in settled.views:
            if self.shares.of(name, client_id, members, view) == observed:
                return view
        return None

    def other_list(self, settled: Settled) -> ListAnswer | None:
        """An earlier list of the same round that explains what was observed: each topic asks a broker of its own, and a
        broker that has just come up does not know every member yet.
        """
        client_id, round_ms = settled.life.client_id, settled.answer.at_ms
        for answer in reversed(settled.life.process.lists.between(round_ms - ROUND_MS, round_ms - 1)):
            members = self.shares.member_view(answer.client_ids or ())
            if members != settled.members and any(
                self.shares.of(self.usual, client_id, members, view) == settled.observed for view in settled.views
            ):
                return answer
        return None

    def _fitting(self, life: Life, mine: Sequence[Settled]) -> str | None:
        """The strategy that explains most of a process's settled tables; at least half of them."""
        results = life.process.results
        told = results[0].strategy if results else None
        if told is not None and self.shares.knows(told):
            return told
        best, most = None, 0
        for name in GUESSED:
            explained = len([settled for settled in mine if self.explains(name, settled) is not None])
            if explained > most:
                best, most = name, explained
            if most == len(mine):
                break
        return best if mine and most * 2 >= len(mine) else None

    def assignments(self) -> list[Assignment]:
        """One row per settled table, ordered by time, topic, client id and process; without any member list, from
        membership alone.
        """
        if any(life.process.lists for life in self._history.lives) or self._history.broadcasting:
            rows = [self._assignment(settled) for settled in self.settled]
        else:
            rows = list(self._from_membership())
        rows.sort(key=attrgetter("topic"))  # the rows of each topic come in the order of the processes
        rows.sort(key=attrgetter("at_ms"))
        return rows

    def _from_membership(self) -> Iterator[Assignment]:
        """What each change of membership should have given each member, where no round is on record."""
        last: dict[tuple[str, str], Queues] = {}
        for epoch in self._history.epochs():
            for topic in self._history.topics():
                if topic in self._history.pop_topics:
                    continue
                view = self.shares.queue_view(queue for queue in self._history.queues if queue.topic == topic)
                for client_id in sorted(set(epoch.members)):
                    target = self.target_for(self.usual, client_id, epoch.members, view) or ()
                    if last.get((topic, client_id)) != target:
                        last[topic, client_id] = target
                        yield Assignment(
                            self._history.group, topic, client_id, 1, epoch.from_ms, None, len(view.queues),
                            len(epoch.members), target, "",
                        )  # fmt: skip

    def _assignment(self, settled: Settled) -> Assignment:
        answer, strategy = settled.answer, self.strategy_of[settled.life.key]
        name = strategy or self.usual
        target = settled.observed
        view = self.explains(name, settled)
        if view is None:
            view = settled.views[0] if settled.views else QueueView(())
            target = self.target(name, settled, view) or ()
        return Assignment(
            self._history.group,
            settled.topic,
            *settled.life.key,
            answer.at_ms,
            strategy,
            len(view.queues),
            len(settled.members.cid_all),
            target,
            str(answer.evidence),
        )


def _last_of_rounds(life: Life) -> Iterator[tuple[ListAnswer, int]]:
    """The last list of each round with a quiet time after it, and when that ended."""
    lists = life.process.lists
    ends = [*[answer.asked_at_ms for answer in lists][1:], life.end.earliest_ms]
    for answer, until in zip(lists, ends, strict=False):
        if answer.client_ids is not None and until - answer.at_ms > ROUND_MS:
            yield answer, until


def differing_strategies(targets: Targets, lives: Iterable[Life]) -> bool:
    """Whether the processes are known to use more than one strategy."""
    return len({targets.strategy_of[life.key] for life in lives} - {None}) > 1
