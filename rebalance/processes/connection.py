"""What one connection of a client, or one run in a client's log, shows of a group."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

from rebalance.facts import NO_EVIDENCE, Evidence, RebalanceResultChanged, TopicSubscription
from rebalance.model.frozen import frozen
from rebalance.model.message_queue import MessageQueue


class WitnessKind(IntEnum):
    """How a queue was seen in a process's hands."""

    QUERY = 0  # start offset asked: the queue is being added, or is in the table already
    COMMIT = 1
    PULL = 2
    LOCK = 3  # named in a renewal of several locks
    ADDED = 4  # the client's own log
    REMOVED = 5


ADDING = (WitnessKind.QUERY, WitnessKind.ADDED)
"""Sightings that begin a tenure."""


@frozen()
class Witness:
    """One sighting of a queue with a process."""

    at_ms: int
    kind: WitnessKind
    queue_offset: int | None
    evidence: Evidence
    late_ms: int = 0  # the true instant is up to this much later


@frozen(eq=False)
class ListAnswer:
    """The member list one round of a process was computed from; `client_ids` None: failed or not seen.

    Each answer is an event of its own: two with equal fields are two.
    """

    at_ms: int
    asked_at_ms: int
    broker: str
    client_ids: tuple[str, ...] | None
    failed: bool
    evidence: Evidence


@frozen()
class HeardVersion:
    """A subVersion of a topic, when a heartbeat first carried it."""

    heard_ms: int
    sub_version: int
    evidence: Evidence


class Closed(NamedTuple):
    """A broker's log says the connection went, at the latest at `latest_ms`."""

    latest_ms: int
    expired: bool
    evidence: Evidence


@dataclass(slots=True)
class Channel:
    """When a connection of a client id to one broker was used, and the request numbers seen on it.

    The log of one run of a client counts as a channel too, to the broker "" (`is_log`).
    """

    broker: str
    remote: str
    client_id: str
    first_ms: int
    last_ms: int
    first_heartbeat_ms: int | None = None
    last_heartbeat_ms: int | None = None
    unregistered_ms: int | None = None
    unregistered_late_ms: int = 0
    finished_ms: int | None = None
    closed: Closed | None = None
    from_start: bool = False  # a log that begins with the start of its run
    pauses: list[tuple[int, int]] = field(default_factory=list)
    requests: list[tuple[int, int]] = field(default_factory=list)

    @property
    def is_log(self) -> bool:
        return not self.broker

    def lively_spans(self) -> list[tuple[int, int]]:
        """(from, until) of uninterrupted use."""
        edges = [self.first_ms, *(edge for pause in self.pauses for edge in pause), self.last_ms]
        return list(zip(edges[::2], edges[1::2], strict=True))

    def leave(self, at_ms: int, late_ms: int) -> None:
        """Takes note of an unregister in [at_ms, at_ms + late_ms]; the tightest statement of several stays."""
        if self.unregistered_ms is None or late_ms < self.unregistered_late_ms:
            self.unregistered_ms, self.unregistered_late_ms = at_ms, late_ms


@dataclass(slots=True, eq=False)
class Connection:
    """All that one channel shows of a group, each list in time order. Filled while the facts are read."""

    channel: Channel
    first_evidence: Evidence
    last_evidence: Evidence = NO_EVIDENCE
    message_model: str | None = None
    consume_type: str | None = None
    ordered: bool = False  # it asks for queue locks
    lite: bool = False  # a lite pull consumer
    lists: list[ListAnswer] = field(default_factory=list)
    versions: dict[str, list[HeardVersion]] = field(default_factory=dict)
    witnesses: dict[MessageQueue, list[Witness]] = field(default_factory=dict)
    results: list[RebalanceResultChanged] = field(default_factory=list)
    subscriptions: tuple[TopicSubscription, ...] | None = None  # of its last heartbeat that carried them
    targets: dict[str, tuple[MessageQueue, ...]] = field(default_factory=dict)  # the broker's last result of each topic

    def register(self, at_ms: int, message_model: str | None, consume_type: str | None) -> None:
        """Takes note of a heartbeat, the first of which says how the client consumes."""
        channel = self.channel
        if channel.first_heartbeat_ms is None:
            channel.first_heartbeat_ms = at_ms
            self.message_model, self.consume_type = message_model, consume_type
        if channel.last_heartbeat_ms is None or channel.last_heartbeat_ms < at_ms:
            channel.last_heartbeat_ms = at_ms

    def hear(self, subscriptions: tuple[TopicSubscription, ...], at_ms: int, evidence: Evidence) -> None:
        """Takes in the subscriptions of a heartbeat that differ from those before."""
        self.subscriptions = subscriptions
        for subscription in subscriptions:
            heard = self.versions.setdefault(subscription.topic, [])
            version = subscription.sub_version
            if version is not None and (not heard or heard[-1].sub_version < version):
                heard.append(HeardVersion(at_ms, version, evidence))
