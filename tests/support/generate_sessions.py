"""Generated groups: the facts a broker would record of members that come and go, and who owned what.

Members use AVG, ask for the member list after each change, and leave the requests of their gains and losses behind, as
push consumers of 5.x do. Heartbeats of the same content come as one fact per run (`coalesced`) or one by one.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from rebalance.facts import (
    BrokerStarted,
    ClientUnregistered,
    ConsumerListAnswered,
    Evidence,
    Fact,
    HeartbeatReceived,
    OffsetCommitted,
    OffsetQueried,
    PullSeen,
    TopicSubscription,
)
from rebalance.model.message_queue import MessageQueue
from rebalance.strategies.averagely import Averagely

BROKER = "broker-a"
TOPIC = "orders"
HEARTBEAT_MS = 30_000
PERSIST_MS = 5_000  # one run of persistAll after each change stands for all until the next
START_MS = 1_700_000_000_000
APART_MS = 20_000
DAY_MS = 24 * 3_600_000
NIGHT_MS = 14 * 3_600_000  # when the night begins, after the start of the record
WEEK_MS = 7 * DAY_MS


Planned = tuple[int, str, bool]
"""When, which client, and whether it joins (or leaves)."""


@dataclass
class Member:
    """One process of a generated group."""

    client_id: str
    remote: str
    sub_version: int
    heartbeat_ms: int
    request_no: int = 3
    held: dict[MessageQueue, int] = field(default_factory=dict)

    def next_request(self) -> int:
        self.request_no += 2
        return self.request_no


@dataclass
class GeneratedGroup:
    """Facts in time order, and the ownership they tell: (queue, client id, from, until; None: still)."""

    facts: list[Fact]
    owned: list[tuple[MessageQueue, str, int, int | None]]


class GroupGenerator:
    """Plays one group from its start to `span_ms` later."""

    def __init__(
        self,
        group: str,
        *,
        clients: int,
        queues: int,
        restarts: int,
        span_ms: int,
        seed: int,
        coalesced: bool,
        kill_share: float,
        scaled: int,
        deploys: int,
    ) -> None:
        self.group = group
        self._queues = [MessageQueue(TOPIC, BROKER, n) for n in range(queues)]
        self._chance = random.Random(f"{group} {seed}")
        self._coalesced = coalesced
        self._kill_share = kill_share
        self._end_ms = START_MS + span_ms
        self._members: dict[str, Member] = {}
        self._facts: list[Fact] = [
            BrokerStarted(at_ms=START_MS - 1_000, source=BROKER, evidence=Evidence("generated", 0))
        ]
        self._owned: list[tuple[MessageQueue, str, int, int | None]] = []
        names = [f"10.0.{number // 250}.{number % 250}" for number in range(clients)]
        planned = [*self._planned(names, restarts, span_ms), *_scaled(names[:scaled]), *_deployed(names, deploys)]
        self._plan = list(_apart(sorted(planned)))
        self._ports = 10_000

    def _planned(self, names: list[str], restarts: int, span_ms: int) -> Iterator[Planned]:
        """All join in the first minutes; `restarts` times one of them leaves and comes back."""
        for number, name in enumerate(names):
            yield START_MS + APART_MS * number, name, True
        settled_ms = START_MS + APART_MS * (len(names) + 6)
        for number in range(restarts):
            away = settled_ms + (span_ms - settled_ms + START_MS) * number // restarts
            name = self._chance.choice(names)
            yield away, name, False
            yield away + APART_MS + self._chance.randrange(60_000), name, True

    def generate(self) -> GeneratedGroup:
        for at_ms, name, joins in self._plan:
            if at_ms >= self._end_ms - 60_000:
                break
            if joins and name not in self._members:
                self._join(name, at_ms)
            elif not joins and name in self._members:
                self._leave(name, at_ms)
        for member in self._members.values():
            self._heartbeats(member, self._end_ms)
            self._owned += [(queue, member.client_id, since, None) for queue, since in member.held.items()]
        self._facts.sort(key=lambda fact: fact.at_ms)
        return GeneratedGroup(self._facts, self._owned)

    def _join(self, name: str, at_ms: int) -> None:
        self._ports += 1
        member = Member(f"{name}@{self._ports}#{at_ms}", f"{name}:{self._ports}", at_ms - 500, at_ms)
        self._beat(member, at_ms)
        self._members[name] = member
        self._rounds(at_ms)

    def _leave(self, name: str, at_ms: int) -> None:
        member = self._members.pop(name)
        self._heartbeats(member, at_ms)
        self._owned += [(queue, member.client_id, since, at_ms) for queue, since in member.held.items()]
        if self._chance.random() >= self._kill_share:
            self._add(ClientUnregistered, member, at_ms)
        self._rounds(at_ms)

    def _rounds(self, at_ms: int) -> None:
        """Every member asks for the list and takes what it should have."""
        ids = tuple(member.client_id for member in self._members.values())
        for member in self._members.values():
            asked = at_ms + 5 + self._chance.randrange(40)
            self._add(ConsumerListAnswered, member, asked + 1, asked_at_ms=asked, client_ids=ids)
            target = Averagely().allocate(self.group, member.client_id, self._queues, sorted(ids))
            self._apply(member, set(target), asked + 2)

    def _apply(self, member: Member, target: set[MessageQueue], at_ms: int) -> None:
        lost = sorted(set(member.held) - target, key=lambda q: q.queue_id)
        gained = sorted(target - set(member.held), key=lambda q: q.queue_id)
        for queue in lost:
            self._owned.append((queue, member.client_id, member.held.pop(queue), at_ms))
            self._add(OffsetCommitted, member, at_ms, queue=queue, queue_offset=at_ms - START_MS)
        for queue in gained:
            member.held[queue] = at_ms
            self._add(OffsetQueried, member, at_ms, queue=queue, queue_offset=at_ms - START_MS, result=0)
            self._add(PullSeen, member, at_ms + 500, queue=queue, queue_offset=at_ms - START_MS)
        if lost or gained:
            for queue in sorted(member.held, key=lambda q: q.queue_id):
                self._add(
                    OffsetCommitted, member, at_ms + PERSIST_MS, queue=queue, queue_offset=at_ms + PERSIST_MS - START_MS
                )
            self._heartbeats(member, at_ms)
            member.sub_version = at_ms + 1
            self._beat(member, at_ms + 2)

    def _heartbeats(self, member: Member, until_ms: int) -> None:
        """The periodic heartbeats since the last one written."""
        count = (until_ms - member.heartbeat_ms) // HEARTBEAT_MS
        first, last = member.heartbeat_ms + HEARTBEAT_MS, member.heartbeat_ms + count * HEARTBEAT_MS
        if count and self._coalesced:
            self._beat(member, first, refreshes=count - 1, last_at_ms=last)
        elif count:
            for at_ms in range(first, last + 1, HEARTBEAT_MS):
                self._beat(member, at_ms)
        member.heartbeat_ms = last

    def _beat(self, member: Member, at_ms: int, refreshes: int = 0, last_at_ms: int | None = None) -> None:
        member.heartbeat_ms = last_at_ms or at_ms
        self._add(
            HeartbeatReceived, member, at_ms,
            message_model="CLUSTERING", consume_type="CONSUME_PASSIVELY", client_version=479,
            subscriptions=(TopicSubscription(TOPIC, "*", "TAG", member.sub_version),),
            refreshes=refreshes, last_at_ms=last_at_ms,
        )  # fmt: skip

    def _add(self, fact_type: Callable[..., Fact], member: Member, at_ms: int, **told: object) -> None:
        self._facts.append(
            fact_type(
                at_ms=at_ms, source=BROKER, evidence=Evidence("generated", len(self._facts)),
                group=self.group, client_id=member.client_id, remote=member.remote, request_no=member.next_request(),
                **told,
            )
        )  # fmt: skip


def _scaled(names: list[str]) -> Iterator[Planned]:
    """Clients that are taken away for the third night and put back for the day."""
    for name in names:
        yield START_MS + 2 * DAY_MS + NIGHT_MS, name, False
        yield START_MS + 3 * DAY_MS, name, True


def _deployed(names: list[str], deploys: int) -> Iterator[Planned]:
    """Rolling deploys, one a day from the second: each client in turn leaves and comes back."""
    for number in range(1, deploys + 1):
        for turn, name in enumerate(names):
            away_ms = START_MS + number * DAY_MS + 2 * turn * APART_MS
            yield away_ms, name, False
            yield away_ms + APART_MS, name, True


def _apart(plan: list[Planned]) -> Iterator[Planned]:
    """The plan with its events far enough apart for each to settle."""
    free_ms = 0
    for at_ms, name, joins in plan:
        free_ms = max(free_ms, at_ms) + APART_MS
        yield free_ms - APART_MS, name, joins


def generate_group(
    group: str = "g",
    *,
    clients: int = 50,
    queues: int = 64,
    restarts: int = 10,
    span_ms: int = WEEK_MS,
    seed: int = 1,
    coalesced: bool = True,
    kill_share: float = 0.0,
    scaled: int = 0,
    deploys: int = 0,
) -> GeneratedGroup:
    """One group's facts and truth, the same for the same arguments.

    Args:
        kill_share: so many of those that leave are killed.
        scaled: so many clients are away for a night.
        deploys: so many times every client is restarted in turn.
    """
    return GroupGenerator(
        group,
        clients=clients,
        queues=queues,
        restarts=restarts,
        span_ms=span_ms,
        seed=seed,
        coalesced=coalesced,
        kill_share=kill_share,
        scaled=scaled,
        deploys=deploys,
    ).generate()


def generate_week(group: str, clients: int, deploys: int = 0) -> GeneratedGroup:
    """The week that the benchmarks play of each group: 64 queues, a staged start, ten restarts at random times, a tenth
    of the clients away for a night; every fifth that leaves is killed. See docs/ownership.md for what that makes.
    """
    return generate_group(group, clients=clients, kill_share=0.2, scaled=clients // 10, deploys=deploys)
