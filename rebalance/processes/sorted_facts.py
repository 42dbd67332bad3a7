"""The facts of one replay in order: by group, by broker, and the spans of time they speak for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import attrgetter

from rebalance.facts import (
    ANY_RUN,
    BrokerStarted,
    BrokerStopping,
    ClientFact,
    ConnectionsSeen,
    Fact,
    GroupConfigSeen,
    GroupFact,
    LockAnswered,
    RouteSeen,
)
from rebalance.facts.log_spans import LogSpans
from rebalance.model.settings import Settings
from rebalance.model.span import ALWAYS
from rebalance.model.timing import ROUND_MS
from rebalance.processes.broker_runs import (
    BROKER_STARTED,
    BROKER_STOPPED,
    BROKER_VANISHED,
    BrokerEvent,
    broker_events,
    crashes,
    instants_of,
)
from rebalance.processes.group_record import GroupRecord

_NOT_A_BROKERS = (ClientFact, ConnectionsSeen, GroupConfigSeen, RouteSeen)
_AT_MS = attrgetter("at_ms")


@dataclass
class Record:
    """The facts of one replay, sorted into groups and brokers."""

    settings: Settings
    logs: LogSpans
    groups: dict[str, GroupRecord] = field(default_factory=dict)
    broker_facts: list[BrokerStarted | BrokerStopping] = field(default_factory=list)
    routes: list[RouteSeen] = field(default_factory=list)
    broker_events: list[BrokerEvent] = field(default_factory=list)
    first: dict[str, Fact] = field(default_factory=dict)
    first_ms: int = 0
    last_ms: int = 0
    earliest_ms: int = 0
    latest_ms: int = 0
    last: dict[str, int] = field(default_factory=dict)

    @cached_property
    def starts(self) -> dict[str, list[int]]:
        return instants_of(BROKER_STARTED, self.broker_events)

    @cached_property
    def stops(self) -> dict[str, list[int]]:
        return instants_of(BROKER_STOPPED, self.broker_events)

    @cached_property
    def known(self) -> tuple[int, int]:
        """The span the facts speak for: open towards a side where every broker was down, since nobody consumed there.

        A record that starts in the middle speaks once every living process has heartbeated and persisted its offsets.
        """
        middle = [fact.at_ms for fact in self.first.values() if not isinstance(fact, BrokerStarted)]
        born = bool(self.first) and not middle
        gone = bool(self.first) and all(_stopped(self, broker) for broker in self.first)
        return (
            ALWAYS[0] if born else max(middle, default=self.first_ms) + warm_up_ms(self.settings),
            ALWAYS[1] if gone else _told_until(self) - ROUND_MS,
        )

    @cached_property
    def told(self) -> tuple[int, int]:
        """From the first to the last instant of any fact or log.

        What was before and after is not on record, also where it begins with the start of a broker that had run before.
        """
        begins, ends = zip(*self.logs.values(), strict=True) if self.logs else ((), ())
        return min((self.earliest_ms, *begins)), max((self.latest_ms, *ends))

    @cached_property
    def down(self) -> dict[str, list[tuple[int, int]]]:
        """When each broker was away, as its clients may still see it: they learn of its return at a route poll.

        One that was killed was away from its last sign on.
        """
        late_ms = self.settings.poll_name_server_interval_ms + self.settings.rebalance_wait_interval_ms
        killed = instants_of(BROKER_VANISHED, self.broker_events)
        return {
            broker: list(
                _down_of(self, broker, sorted([*self.stops.get(broker, ()), *killed.get(broker, ())]), late_ms)
            )
            for broker in sorted(self.stops.keys() | killed)
        }


def read_record(facts: Iterable[Fact], logs: LogSpans, settings: Settings) -> Record:
    """Sorts facts into one total order (at_ms, then position in the input), groups and brokers.

    Args:
        logs: from when to when each log speaks.
    """
    ordered = sorted(facts, key=_AT_MS)
    record = Record(settings, logs)
    if ordered:
        record.first_ms, record.last_ms = ordered[0].at_ms, ordered[-1].at_ms
        record.earliest_ms = min(fact.at_ms - fact.early_ms for fact in ordered)
        record.latest_ms = max(fact.at_ms + fact.late_ms for fact in ordered)
    first = record.first
    by_group: defaultdict[str, list[Fact]] = defaultdict(list)
    shared: defaultdict[str, set[str]] = defaultdict(set)
    for fact in ordered:
        if isinstance(fact, GroupFact):
            by_group[fact.group].append(fact)
        else:
            _read_common(record, fact)
        if isinstance(fact, ClientFact):
            if fact.process == ANY_RUN:
                shared[fact.group].add(fact.source)
        elif fact.source not in first and not isinstance(fact, _NOT_A_BROKERS):
            first[fact.source] = fact
    for name, facts in by_group.items():
        group = record.groups[name] = GroupRecord(name)
        group.read(_told_apart(facts, shared[name]))
        group.lock_answers += (f for f in facts if isinstance(f, LockAnswered) and f.source in shared[name])
    record.last = _last_of(first, ordered)
    record.broker_events = broker_events(record.broker_facts)
    record.broker_events += crashes(record.broker_events, ordered)
    return record


def _told_apart(facts: Sequence[Fact], shared: Collection[str]) -> Iterable[Fact]:
    """The facts without those of logs that several indistinguishable consumers share."""
    return (fact for fact in facts if not (fact.source in shared and isinstance(fact, ClientFact))) if shared else facts


def _read_common(record: Record, fact: Fact) -> None:
    """What is said of a broker or a topic goes to every group."""
    if isinstance(fact, BrokerStarted | BrokerStopping):
        record.broker_facts.append(fact)
    elif isinstance(fact, RouteSeen):
        record.routes.append(fact)


def _last_of(brokers: Collection[str], ordered: Sequence[Fact]) -> dict[str, int]:
    """The last instant of which each broker tells."""
    last: dict[str, int] = {}
    for fact in reversed(ordered):
        if len(last) == len(brokers):
            break
        if fact.source in brokers:
            last.setdefault(fact.source, fact.at_ms)
    return last


def warm_up_ms(settings: Settings) -> int:
    """In so much time every living process heartbeats and persists its offsets."""
    return settings.heartbeat_broker_interval_ms + settings.persist_consumer_offset_interval_ms


def _told_until(record: Record) -> int:
    """The end of the record: of several brokers that of the first to fall silent, unless it went down."""
    ends = [
        max(record.last[broker], record.logs.get(broker, (0, 0))[1])
        for broker in record.first
        if not _stopped(record, broker)
    ]
    if not record.first:
        ends = [end for _, end in record.logs.values()]
    return min(ends, default=record.last_ms)


def _stopped(record: Record, broker: str) -> bool:
    stops, starts = record.stops.get(broker, []), record.starts.get(broker, [])
    return bool(stops) and (not starts or stops[-1] > starts[-1])


def _down_of(record: Record, broker: str, ends: Iterable[int], late_ms: int) -> Iterator[tuple[int, int]]:
    for ended in ends:
        back = min((start for start in record.starts.get(broker, ()) if start > ended), default=None)
        yield ended, ALWAYS[1] if back is None else back + late_ms
