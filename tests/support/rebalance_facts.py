"""A small cluster told fact by fact: one broker, consumers of one group, instants in ms from 0."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from rebalance.facts import (
    BrokerStarted,
    ClientUnregistered,
    ConsumerListAnswered,
    Evidence,
    Fact,
    HeartbeatReceived,
    LockBatchAnswered,
    OffsetCommitted,
    OffsetQueried,
    PullSeen,
    TopicSubscription,
    UnlockBatch,
)
from rebalance.model.message_queue import MessageQueue
from rebalance.replay import Replay, replay

BROKER, GROUP, TOPIC = "broker-a", "g", "t"


def queue(queue_id: int, broker: str = BROKER) -> MessageQueue:
    return MessageQueue(TOPIC, broker, queue_id)


@dataclass
class Record:
    """Collects facts; `replay()` replays them."""

    facts: list[Fact] = field(default_factory=lambda: [BrokerStarted(at_ms=-1_000, source=BROKER)])

    def client(self, client_id: str, port: int, first_request: int = 1, **told: Any) -> Client:
        return Client(self, client_id, f"10.0.0.1:{port}", first_request, **told)

    def replay(self) -> Replay:
        return replay(self.facts)

    def owners(self, queue_id: int, at_ms: int) -> tuple[tuple[str, ...], bool, tuple[str, ...]]:
        """(owners, certain, possible) of a queue; nobody, for certain, if it is not known."""
        for found in self.replay().ownership_at(at_ms):
            if (found.topic, found.queue_id) == (TOPIC, queue_id):
                return found.owners, found.certain, found.possible
        return (), True, ()


@dataclass
class Client:
    """One connection of a consumer. Each call is one request, handled at `at_ms`."""

    record: Record
    client_id: str
    remote: str
    request_no: int
    broker: str = BROKER
    consume_type: str = "CONSUME_PASSIVELY"
    message_model: str = "CLUSTERING"
    sub_version: int = -500
    lite: bool = False

    def heartbeat(self, at_ms: int, changed_at: int | None = None) -> None:
        self.sub_version = self.sub_version if changed_at is None else changed_at
        self._add(
            HeartbeatReceived, at_ms,
            message_model=self.message_model, consume_type=self.consume_type,
            subscriptions=(TopicSubscription(TOPIC, "*", "TAG", self.sub_version),),
        )  # fmt: skip

    def lists(self, at_ms: int, *client_ids: str) -> None:
        self._add(ConsumerListAnswered, at_ms, asked_at_ms=at_ms, client_ids=client_ids)

    def asks_offset(self, at_ms: int, *queue_ids: int, stored: int | None = 0) -> None:
        for queue_id in queue_ids:
            result = 0 if stored is not None else 22
            self._add(OffsetQueried, at_ms, queue=queue(queue_id), queue_offset=stored, result=result)

    def pulls(self, at_ms: int, *queue_ids: int, queue_offset: int = 1) -> None:
        for queue_id in queue_ids:
            self._add(PullSeen, at_ms, queue=queue(queue_id), queue_offset=queue_offset, lite=self.lite)

    def commits(self, at_ms: int, *queue_ids: int, queue_offset: int = 1) -> None:
        for queue_id in queue_ids:
            self._add(OffsetCommitted, at_ms, queue=queue(queue_id), queue_offset=queue_offset)

    def commits_every_5_s(self, begin_ms: int, until_ms: int, *queue_ids: int) -> None:
        for at_ms in range(begin_ms, until_ms, 5_000):
            self.commits(at_ms, *queue_ids)

    def locks(self, at_ms: int, queue_id: int, *, granted: bool) -> None:
        asked = (queue(queue_id),)
        self._add(LockBatchAnswered, at_ms, asked=asked, granted=asked if granted else ())

    def unlocks(self, at_ms: int, queue_id: int) -> None:
        self._add(UnlockBatch, at_ms, queues=(queue(queue_id),))

    def unregisters(self, at_ms: int) -> None:
        self._add(ClientUnregistered, at_ms)

    def takes(self, at_ms: int, members: tuple[str, ...], *queue_ids: int) -> None:
        """A whole round that adds queues: list, start offsets, heartbeat with a new subVersion, first pulls."""
        self.lists(at_ms, *members)
        self.asks_offset(at_ms + 1, *queue_ids)
        self.heartbeat(at_ms + 5, changed_at=at_ms + 4)
        self.pulls(at_ms + 500, *queue_ids)

    def loses(self, at_ms: int, members: tuple[str, ...], *queue_ids: int) -> None:
        """A whole round that removes queues: list, farewell commits, heartbeat with a new subVersion."""
        self.lists(at_ms, *members)
        self.commits(at_ms + 1, *queue_ids)
        self.heartbeat(at_ms + 5, changed_at=at_ms + 4)

    def _add(self, fact_type: Any, at_ms: int, **told: Any) -> None:
        self.request_no += 2
        self.record.facts.append(
            fact_type(
                at_ms=at_ms, source=self.broker, evidence=Evidence(self.remote, self.request_no), group=GROUP,
                client_id=self.client_id, remote=self.remote, request_no=self.request_no, **told,
            )
        )  # fmt: skip
