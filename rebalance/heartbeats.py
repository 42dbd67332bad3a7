"""Signs of life at the brokers as rows: heartbeats, connects, unregisters, closes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from rebalance.events import (
    ChannelClosed,
    ChannelConnected,
    ChannelExpired,
    ChannelFact,
    ClientUnregistered,
    Fact,
    HeartbeatReceived,
)
from rebalance.frozen import frozen
from rebalance.model import Settings

_KINDS: dict[type[Fact], str] = {
    HeartbeatReceived: "heartbeat",
    ChannelConnected: "connect",
    ClientUnregistered: "unregister",
    ChannelClosed: "close",
    ChannelExpired: "expire",
}


@frozen()
class Heartbeat:
    """One row; a run of equal heartbeats may be one (`refreshes` more, the last at `last_at_ms`).

    Instants are epoch ms.
    """

    at_ms: int
    kind: str
    broker: str
    group: str
    client_id: str | None
    remote: str | None
    topics: tuple[str, ...] | None
    refreshes: int
    last_at_ms: int | None
    evidence: str


def heartbeats_of(facts: Iterable[Fact]) -> Iterator[Heartbeat]:
    """Rows of the facts that show a member's life at a broker, in the order given."""
    for fact in facts:
        if type(fact) in _KINDS and isinstance(fact, ChannelFact):
            yield _heartbeat(fact) if isinstance(fact, HeartbeatReceived) else _other_sign(fact)


def _heartbeat(fact: HeartbeatReceived) -> Heartbeat:
    told = fact.subscriptions
    return Heartbeat(
        fact.at_ms,
        _KINDS[HeartbeatReceived],
        fact.source,
        fact.group,
        fact.client_id,
        fact.remote,
        None if told is None else tuple([subscription.topic for subscription in told]),
        fact.refreshes,
        fact.last_at_ms,
        str(fact.evidence),
    )


def _other_sign(fact: ChannelFact) -> Heartbeat:
    kind, evidence = _KINDS[type(fact)], str(fact.evidence)
    return Heartbeat(fact.at_ms, kind, fact.source, fact.group, fact.client_id, fact.remote, None, 0, None, evidence)


def coalesce_heartbeats(facts: Iterable[Fact], *, settings: Settings | None = None) -> Iterator[Fact]:
    """The same facts with regular heartbeats of unchanged content drawn together, one fact per run.

    A run ends where the content changes, or where a beat is missing; the replay gives the same answers for both forms.
    Facts must come in time order; a run is passed on when it ends, so facts leave slightly out of order.
    """
    regular_ms = (settings or Settings()).heartbeat_broker_interval_ms * 3 // 2
    runs: dict[tuple[str, str | None, str], _Run] = {}
    for fact in facts:
        if not isinstance(fact, HeartbeatReceived):
            yield fact
            continue
        key = (fact.source, fact.remote, fact.group)
        run = runs.get(key)
        if run is not None and run.goes_on(fact, regular_ms):
            run.refreshes += 1 + fact.refreshes
            run.last_at_ms = fact.last_at_ms or fact.at_ms
        else:
            if run is not None:
                yield run.as_one()
            runs[key] = _Run(fact, fact.refreshes, fact.last_at_ms)
    yield from (run.as_one() for run in runs.values())


@dataclass(slots=True)
class _Run:
    """Equal heartbeats of one connection so far."""

    first: HeartbeatReceived
    refreshes: int
    last_at_ms: int | None

    def goes_on(self, fact: HeartbeatReceived, regular_ms: int) -> bool:
        first = self.first
        until_ms = first.at_ms if self.last_at_ms is None else self.last_at_ms
        same = first.client_id == fact.client_id and first.subscriptions == fact.subscriptions
        return same and first.message_model == fact.message_model and until_ms <= fact.at_ms <= until_ms + regular_ms

    def as_one(self) -> HeartbeatReceived:
        if self.refreshes == self.first.refreshes:
            return self.first
        return replace(self.first, refreshes=self.refreshes, last_at_ms=self.last_at_ms)
