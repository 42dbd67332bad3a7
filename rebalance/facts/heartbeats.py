"""Signs of life at the brokers as rows: heartbeats, connects, unregisters, closes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rebalance.facts import (
    ChannelClosed,
    ChannelConnected,
    ChannelExpired,
    ChannelFact,
    ClientUnregistered,
    Fact,
    HeartbeatReceived,
)
from rebalance.model.frozen import frozen

_KINDS: dict[type[Fact], str] = {
    HeartbeatReceived: "heartbeat",
    ChannelConnected: "connect",
    ClientUnregistered: "unregister",
    ChannelClosed: "close",
    ChannelExpired: "expire",
}
HEARTBEAT_KINDS = tuple(_KINDS.values())
"""Every `kind` of a row."""


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
