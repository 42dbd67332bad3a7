"""All that is known of one group: the ground on which causes, anomalies and targets are worked out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from rebalance.facts import RouteSeen
from rebalance.model.message_queue import MessageQueue
from rebalance.model.settings import Settings
from rebalance.model.span import EVER
from rebalance.ownership.doubts import Doubt
from rebalance.processes.broker_runs import BrokerEvent
from rebalance.processes.client_clock import HeardChange
from rebalance.processes.connection import ListAnswer
from rebalance.processes.group_record import Rollback
from rebalance.processes.late_locks import LateLock
from rebalance.processes.life import Life
from rebalance.processes.locks import LockTable
from rebalance.tenures.queue_table import Tenure


class Epoch(NamedTuple):
    """A span (epoch ms) in which the same members were registered; ids sorted, one entry per process."""

    from_ms: int
    until_ms: int
    members: list[str]


@dataclass(slots=True, kw_only=True)
class GroupHistory:
    """One group, read but not yet explained. Spans are (from, until) in epoch ms."""

    group: str
    lives: Sequence[Life]
    tenures: Sequence[Tenure]
    doubts: Sequence[Doubt]
    known: tuple[int, int]
    told: tuple[int, int]
    settings: Settings
    down: Mapping[str, Sequence[tuple[int, int]]]
    starts: Mapping[str, Sequence[int]]
    stops: Mapping[str, Sequence[int]]
    broker_events: Sequence[BrokerEvent]
    locks: LockTable
    late_locks: Sequence[LateLock] = ()
    rollbacks: Sequence[Rollback]
    routes: Sequence[RouteSeen]
    queues: frozenset[MessageQueue]
    settle_ms: int
    gaps: Sequence[tuple[int, int]] = ()
    pop_topics: frozenset[str] = frozenset()
    changes_heard: Mapping[str, Sequence[HeardChange]] = field(default_factory=dict)
    by_queue: dict[MessageQueue, list[Tenure]] = field(default_factory=dict)
    first_use: dict[MessageQueue, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Orders the tenures, and dates every queue that must exist: ids count from 0 on each broker."""
        for tenure in self.tenures:
            self.by_queue.setdefault(tenure.queue, []).append(tenure)
        for held in self.by_queue.values():
            held.sort(key=lambda t: (t.begin_latest, t.life.key))
        self.by_queue = {queue: self.by_queue[queue] for queue in sorted(self.by_queue, key=lambda q: q.order)}

        uses: dict[tuple[str, str], dict[int, int]] = {}
        for queue, held in self.by_queue.items():
            used = min(tenure.begin_latest for tenure in held)
            uses.setdefault((queue.topic, queue.broker_name), {})[queue.queue_id] = used
        for (topic, broker), used_ids in uses.items():
            earliest = EVER
            for queue_id in range(max(used_ids), -1, -1):
                earliest = min(earliest, used_ids.get(queue_id, earliest))
                self.first_use[MessageQueue(topic, broker, queue_id)] = earliest
        self.queues |= self.first_use.keys()

    @property
    def broadcasting(self) -> bool:
        return any(life.process.broadcasting for life in self.lives)

    def answers(self) -> list[ListAnswer]:
        """All member lists the group's processes got, in time order."""
        return sorted((a for life in self.lives for a in life.process.lists), key=lambda a: (a.at_ms, a.evidence))

    def members_at(self, at_ms: int) -> list[str]:
        """Client ids registered at a broker then, one entry per process; processes known from a log alone are not
        seen there.
        """
        return sorted(life.client_id for life in self.lives if life.registered_at(at_ms))

    def epochs(self) -> list[Epoch]:
        """The spans between changes of membership, in time order; those without a member are left out."""
        edges = sorted({edge for life in self.lives for edge in life.membership_edges()})
        spans = [Epoch(begin, end, self.members_at(begin)) for begin, end in pairwise(edges)]
        return [epoch for epoch in spans if epoch.members]

    def topics(self) -> list[str]:
        """Topics the group subscribes or holds queues of."""
        heard = {topic for life in self.lives for topic in life.process.versions}
        return sorted(heard | {queue.topic for queue in self.queues})

    def is_down(self, broker: str, at_ms: int) -> bool:
        return any(begin <= at_ms <= end for begin, end in self.down.get(broker, ()))
