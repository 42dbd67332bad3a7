"""Signs of life at the brokers as rows: heartbeats, connects, unregisters, closes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

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
    runs: dict[tuple[str, str | None, str], HeartbeatReceived] = {}
    for fact in facts:
        if not isinstance(fact, HeartbeatReceived):
            yield fact
            continue
        key = (fact.source, fact.remote, fact.group)
        run = runs.get(key)
        if run is not None and _continues(run, fact, regular_ms):
            runs[key] = replace(
                run, refreshes=run.refreshes + 1 + fact.refreshes, last_at_ms=fact.last_at_ms or fact.at_ms
            )
        else:
            if run is not None:
                yield run
            runs[key] = fact
    yield from runs.values()


def _continues(run: HeartbeatReceived, fact: HeartbeatReceived, regular_ms: int) -> bool:
    until = run.at_ms if run.last_at_ms is None else run.last_at_ms
    same = run.client_id == fact.client_id and run.subscriptions == fact.subscriptions
    return same and run.message_model == fact.message_model and until <= fact.at_ms <= until + regular_ms
