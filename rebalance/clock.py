"""How far a client's clock is ahead of its broker's, from messages that both of them recorded.

A message is sent before it is heard. What a client sent bounds its lead from below, what it heard bounds it from above;
the network's delay is inside the bounds, so nothing is assumed about it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from rebalance.events import (
    ChannelConnected,
    ClientFact,
    ConsumerStarting,
    Fact,
    HeartbeatReceived,
    Notified,
    SubscriptionChanged,
    SubscriptionVersionBumped,
)


class ClockOffset(NamedTuple):
    """How far a clock is ahead of the reference clock: between `min_ms` and `max_ms`."""

    min_ms: int
    max_ms: int


SAME_CLOCK = ClockOffset(0, 0)


def clock_ahead(client_facts: Iterable[Fact], broker_facts: Iterable[Fact]) -> ClockOffset | None:
    """Bounds on the lead of a client's clock over the brokers' clock; None if one bound has no evidence.

    Sent: a subVersion is an instant of the client's own clock, and reaches the broker in a heartbeat that follows.
    Heard: a run's first notification comes after the broker had registered that client. Where the bounds contradict
    each other a clock was set in between: they then come in reverse, and hold before and after.

    Args:
        client_facts: of one client's log, read without an offset.
        broker_facts: of the brokers it was a member of, by logs or captures.
    Source: RebalancePushImpl#messageQueueChanged, DefaultConsumerIdsChangeListener#handle.
    """
    told, brokers = list(client_facts), list(broker_facts)
    sent, heard = list(_sent(told, brokers)), list(_heard(told, brokers))
    if not sent or not heard:
        return None
    low, high = max(sent), min(heard)
    return ClockOffset(min(low, high), max(low, high))


def _sent(client_facts: list[Fact], broker_facts: list[Fact]) -> Iterator[int]:
    """Leads that sent subVersions prove: at least the client's instant less the latest the broker can have heard it."""
    bumped = {(f.group, f.topic, f.new_sub_version) for f in client_facts if isinstance(f, SubscriptionVersionBumped)}
    ids = {fact.client_id for fact in client_facts if isinstance(fact, ClientFact)}
    for fact in broker_facts:
        latest_ms = fact.at_ms + fact.late_ms
        if isinstance(fact, SubscriptionChanged) and (fact.group, fact.topic, fact.sub_version) in bumped:
            yield (fact.sub_version or 0) - latest_ms
        elif isinstance(fact, HeartbeatReceived) and fact.client_id in ids:
            yield from (one.sub_version - latest_ms for one in fact.subscriptions or () if one.sub_version)


def _heard(client_facts: list[Fact], broker_facts: list[Fact]) -> Iterator[int]:
    """Leads that notifications allow: at most the client's instant less the earliest registration of its id."""
    registered: dict[tuple[str, str], int] = {}
    for fact in broker_facts:
        if isinstance(fact, ChannelConnected | HeartbeatReceived) and fact.client_id:
            earliest_ms = fact.at_ms - fact.early_ms
            key = fact.group, fact.client_id
            registered[key] = min(earliest_ms, registered.get(key, earliest_ms))
    for fact in _first_notifications(client_facts):
        key = fact.group, fact.client_id or ""
        if key in registered:
            yield fact.at_ms + fact.late_ms - registered[key]


def _first_notifications(client_facts: list[Fact]) -> Iterator[Notified]:
    """The first notification of each run whose start is in the log."""
    waiting: set[tuple[str, int]] = set()
    for fact in client_facts:
        if isinstance(fact, ConsumerStarting):
            waiting.add((fact.group, fact.process))
        elif isinstance(fact, Notified) and (fact.group, fact.process) in waiting:
            waiting.discard((fact.group, fact.process))
            yield fact


def on_one_clock(facts: Iterable[Fact]) -> list[Fact]:
    """The same facts, those of client logs whose clock is proven wrong moved onto the brokers' clock.

    A client whose bounds hold 0, or that has none, is taken as right. A moved fact is as uncertain as its lead is.
    """
    given = list(facts)
    brokers = [fact for fact in given if isinstance(fact, ChannelConnected | HeartbeatReceived | SubscriptionChanged)]
    by_log: dict[str, list[Fact]] = {}
    for fact in given:
        if isinstance(fact, ClientFact):
            by_log.setdefault(fact.source, []).append(fact)
    ahead = {log: clock_ahead(told, brokers) for log, told in by_log.items()}
    wrong = {log: lead for log, lead in ahead.items() if lead is not None and (lead.min_ms > 0 or lead.max_ms < 0)}
    return [_moved(fact, wrong[fact.source]) if fact.source in wrong else fact for fact in given]


def _moved(fact: Fact, lead: ClockOffset) -> Fact:
    return replace(fact, at_ms=fact.at_ms - lead.min_ms, early_ms=fact.early_ms + lead.max_ms - lead.min_ms)
