"""How far a client's clock is ahead of its broker's, from messages that both of them recorded.

A message is sent before it is heard. What a client sent bounds its lead from below, what it heard bounds it from above;
the network's delay is inside the bounds, so nothing is assumed about it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import replace
from typing import NamedTuple

from rebalance.facts import (
    BrokerStarted,
    ChannelClosed,
    ChannelConnected,
    ChannelFact,
    ClientFact,
    ClientUnregistered,
    ConsumerShutdown,
    ConsumerStarting,
    Fact,
    HeartbeatReceived,
    Notified,
    RouteSeen,
    SubscriptionChanged,
    SubscriptionVersionBumped,
)
from rebalance.model.span import EVER
from rebalance.model.timing import THREADS_MS


class ClockOffset(NamedTuple):
    """How far a clock is ahead of the reference clock: between `min_ms` and `max_ms`."""

    min_ms: int
    max_ms: int


SAME_CLOCK = ClockOffset(0, 0)
_Who = tuple[str, str]
_Version = tuple[str, str, int | None]
_BROKERS = (BrokerStarted, ChannelConnected, ChannelClosed, ClientUnregistered, HeartbeatReceived, SubscriptionChanged)
"""What brokers tell that a client's log tells too."""


def clock_ahead(client_facts: Iterable[Fact], broker_facts: Iterable[Fact]) -> ClockOffset | None:
    """Bounds on the lead of a client's clock over the brokers' clock; None if one bound has no evidence.

    Where the bounds contradict each other a clock was set in between: `min_ms` is then above `max_ms`.

    Args:
        client_facts: of one client's log, read without an offset, in its order.
        broker_facts: of the brokers it was a member of, by logs or captures.
    Source: RebalancePushImpl#messageQueueChanged, DefaultConsumerIdsChangeListener#handle,
        DefaultMQPushConsumerImpl#shutdown.
    """
    told, heard_by = _Told(client_facts), _HeardBy(broker_facts)
    sent, heard = list(_sent(told, heard_by)), list(_heard(told, heard_by))
    return ClockOffset(max(sent), min(heard)) if sent and heard else None


class _Told:
    """What one log tells that a broker can have heard: earliest instants of what was sent, latest of what was heard."""

    def __init__(self, facts: Iterable[Fact]) -> None:
        self.changed: dict[_Version, int] = {}
        self.begun: dict[_Who, int] = {}
        self.notified: dict[_Who, int] = {}
        self.last: dict[_Who, int] = {}
        self.finished: dict[_Who, int] = {}
        self._runs: Counter[_Who] = Counter()
        self._brokers: dict[str, set[str]] = {}
        waiting: set[tuple[str, int]] = set()
        for fact in facts:
            if isinstance(fact, RouteSeen) and fact.client_id is not None:
                self._brokers.setdefault(fact.client_id, set()).update(part.broker_name for part in fact.queues)
            if not isinstance(fact, ClientFact) or fact.client_id is None:
                continue
            who, run, sent_ms = (fact.group, fact.client_id), (fact.group, fact.process), fact.at_ms - fact.early_ms
            if isinstance(fact, SubscriptionVersionBumped):
                self.changed[fact.group, fact.topic, fact.new_sub_version] = sent_ms
            elif isinstance(fact, ConsumerStarting):
                self.begun[who] = sent_ms
                self._runs[who] += 1
                waiting.add(run)
            elif isinstance(fact, Notified) and run in waiting:
                waiting.discard(run)
                self.notified[who] = min(fact.at_ms + fact.late_ms, self.notified.get(who, EVER))
            if not isinstance(fact, ConsumerShutdown):
                self.last[who] = sent_ms
            elif fact.finished:
                self.finished[who] = fact.at_ms + fact.late_ms

    def is_one_run(self, who: _Who) -> bool:
        """Whether the client id was used by one run only, as far as the log tells."""
        return self._runs[who] <= 1

    def brokers(self, who: _Who) -> Set[str]:
        """The brokers that a client's routes name: it may have been a member of each."""
        return self._brokers.get(who[1], frozenset())


class _HeardBy:
    """What brokers tell of clients: when each was first registered, and how often; how it left; its subVersions."""

    def __init__(self, facts: Iterable[Fact]) -> None:
        self.versions: dict[_Version, int] = {}
        self.first: dict[_Who, tuple[int, int, str]] = {}
        self._joined: dict[_Who, dict[str, dict[str, tuple[int, int]]]] = {}
        self._left: dict[_Who, dict[str, tuple[int, int]]] = {}
        self._started: dict[str, int] = {}
        for fact in facts:
            if isinstance(fact, BrokerStarted):
                self._started.setdefault(fact.source, fact.at_ms)
            window = fact.at_ms - fact.early_ms, fact.at_ms + fact.late_ms
            for version in _versions(fact):
                self.versions[version] = min(window[1], self.versions.get(version, window[1]))
            if not isinstance(fact, ChannelFact) or fact.client_id is None:
                continue
            who = fact.group, fact.client_id
            if isinstance(fact, ChannelConnected | HeartbeatReceived):
                self.first[who] = min((*window, fact.source), self.first.get(who, (*window, fact.source)))
                self._joined.setdefault(who, {}).setdefault(fact.source, {}).setdefault(fact.remote or "", window)
            elif isinstance(fact, ClientUnregistered | ChannelClosed):
                self._left.setdefault(who, {}).setdefault(fact.source, window)

    def is_told_by(self, brokers: Set[str], who: _Who) -> bool:
        """Whether each of these brokers tells of a client: of one whose record is lost it may have been a member before
        it joined the others, and after it left them.
        """
        return brokers <= self._joined.get(who, {}).keys()

    def joined_once(self, who: _Who) -> bool:
        """Whether a client joined each broker at most once on record, so that all facts with its id are of one run."""
        return all(len(joins) == 1 for joins in self._joined.get(who, {}).values())

    def registered(self, who: _Who) -> int | None:
        """The earliest at which a client was registered, if the record of that broker begins with its start."""
        earliest_ms, _, broker = self.first.get(who, (0, 0, ""))
        return earliest_ms if self._started.get(broker, earliest_ms) < earliest_ms else None

    def left(self, who: _Who) -> tuple[int, int] | None:
        """When a client that joined each broker once left the last of them; None where that is not certain."""
        joined, left = self._joined.get(who, {}), self._left.get(who, {})
        if not joined or joined.keys() != left.keys() or not self.joined_once(who):
            return None
        in_order = all(max(joined[broker].values()) < left[broker] for broker in joined)
        return max(left.values()) if in_order else None


def _sent(told: _Told, heard_by: _HeardBy) -> Iterator[int]:
    """Leads that what was sent proves: at least the client's instant less the latest the broker can have heard it.

    Sent: a changed subVersion, right after its line; a start, before the registration; the last line before the end.
    """
    for version, sent_ms in told.changed.items():
        if version in heard_by.versions:
            yield sent_ms - heard_by.versions[version]
    for who, sent_ms in told.begun.items():
        if who in heard_by.first and told.is_one_run(who) and heard_by.joined_once(who):
            yield sent_ms - heard_by.first[who][1]
    for who, sent_ms in told.last.items():
        left = heard_by.left(who) if heard_by.is_told_by(told.brokers(who), who) else None
        if left is not None and told.is_one_run(who):
            yield sent_ms - left[1] - THREADS_MS


def _heard(told: _Told, heard_by: _HeardBy) -> Iterator[int]:
    """Leads that what was heard allows: at most the client's instant less the earliest at which the broker spoke.

    Heard: a run's first notification, after its registration; the answer to its unregistering.
    """
    for who, heard_ms in told.notified.items():
        registered_ms = heard_by.registered(who) if heard_by.is_told_by(told.brokers(who), who) else None
        if registered_ms is not None:
            yield heard_ms - registered_ms
    for who, heard_ms in told.finished.items():
        left = heard_by.left(who)
        if left is not None and told.is_one_run(who):
            yield heard_ms - left[0]


def _versions(fact: Fact) -> Iterator[_Version]:
    """The subVersions that a broker heard of."""
    if isinstance(fact, SubscriptionChanged):
        yield fact.group, fact.topic, fact.sub_version
    elif isinstance(fact, HeartbeatReceived):
        for one in fact.subscriptions or ():
            yield fact.group, one.topic, one.sub_version


def wrong_clocks(facts: Iterable[Fact]) -> dict[str, ClockOffset]:
    """By client log, the leads that are proven not to hold 0. A log without both bounds is taken as right."""
    brokers: list[Fact] = []
    by_log: dict[str, list[Fact]] = {}
    for fact in facts:
        if isinstance(fact, ClientFact) or (isinstance(fact, RouteSeen) and fact.client_id is not None):
            by_log.setdefault(fact.source, []).append(fact)
        elif isinstance(fact, _BROKERS):
            brokers.append(fact)
    ahead = {log: clock_ahead(told, brokers) for log, told in sorted(by_log.items())}
    return {log: lead for log, lead in ahead.items() if lead is not None and (was_set(lead) or _is_off(lead))}


def was_set(lead: ClockOffset) -> bool:
    """Whether a clock was set while the log was written: its bounds contradict each other."""
    return lead.min_ms > lead.max_ms + THREADS_MS


def _is_off(lead: ClockOffset) -> bool:
    return min(lead) > 0 or max(lead) < 0


def by_clock(facts: Iterable[Fact], wrong: Mapping[str, ClockOffset]) -> list[Fact]:
    """Facts on the brokers' clock: those of a wrong clock are moved, as uncertain as its lead is; those of a clock
    that was set are left out, since no instant of theirs can be placed.
    """
    unplaced = {log for log, lead in wrong.items() if was_set(lead)}
    moved = {log: ClockOffset(min(lead), max(lead)) for log, lead in wrong.items() if log not in unplaced}
    return [
        _moved(fact, moved[fact.source]) if fact.source in moved else fact
        for fact in facts
        if fact.source not in unplaced
    ]


def _moved(fact: Fact, lead: ClockOffset) -> Fact:
    return replace(fact, at_ms=fact.at_ms - lead.min_ms, early_ms=fact.early_ms + lead.max_ms - lead.min_ms)
