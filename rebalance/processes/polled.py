"""What polls show of a group: who was a member, which queues a client's own answer named, which topics are subscribed.

An answer speaks of some instant of its window, never of two, so no poll says that a queue was held all along.
Source: ConsumerConnection, ConsumerRunningInfo @5.3.3.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from rebalance.facts import ConnectionsSeen, QueueTableSeen
from rebalance.model.message_queue import MessageQueue
from rebalance.model.span import EVER


class Sighting(NamedTuple):
    """A client that was there at some instant of [from_ms, until_ms] (epoch ms)."""

    client_id: str
    from_ms: int
    until_ms: int


@dataclass(slots=True)
class Polled:
    """Collects one group's polls. `tables` leaves out the queues that a client had dropped already."""

    members: list[Sighting] = field(default_factory=list)
    tables: list[tuple[Sighting, MessageQueue]] = field(default_factory=list)
    topics: set[str] = field(default_factory=set)

    def connections(self, fact: ConnectionsSeen) -> None:
        """Takes in the members a broker listed."""
        window = fact.at_ms - fact.early_ms, fact.at_ms + fact.late_ms
        self.members += [Sighting(row.client_id, *window) for row in fact.connections]
        self.topics.update(fact.topics)

    def table(self, fact: QueueTableSeen) -> None:
        """Takes in the queue table a client answered with."""
        assert fact.client_id is not None
        sighting = Sighting(fact.client_id, fact.at_ms - fact.early_ms, fact.at_ms + fact.late_ms)
        self.members.append(sighting)
        dropped = set(fact.dropped)
        self.tables += [(sighting, queue) for queue in fact.queues if queue not in dropped]

    def within(self, since_ms: int | None, until_ms: int) -> Polled:
        """What was polled from an instant (None: from ever) to another."""
        since = -EVER if since_ms is None else since_ms
        return Polled(
            [seen for seen in self.members if since <= seen.from_ms < until_ms],
            [(seen, queue) for seen, queue in self.tables if since <= seen.from_ms < until_ms],
            self.topics,
        )
