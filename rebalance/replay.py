"""The door: facts in, a replayed history of ownership out. Pure: the same facts give the same rows.

Facts are put in one total order (at_ms, then position in the input), split by group and joined to processes; each
process's queue table is read out of its rounds (`rebalance.table`). Rows are worked out when first asked for.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import attrgetter
from typing import TypeVar

from rebalance.anomalies import Anomalies, Anomaly
from rebalance.broker_runs import BROKER_STARTED, BROKER_STOPPED, BrokerEvent, broker_events, instants_of
from rebalance.clock import by_clock, wrong_clocks
from rebalance.collect import GroupRecord
from rebalance.divergence import Divergence, divergence_of
from rebalance.doubts import doubts_of
from rebalance.events import (
    BrokerStarted,
    BrokerStopping,
    ClientFact,
    ConnectionsSeen,
    Fact,
    GroupConfigSeen,
    GroupFact,
    LogBegins,
    LogEnds,
    RouteSeen,
    UnreadRecord,
)
from rebalance.exposures import Exposure, exposures_of
from rebalance.gaps import gaps_of
from rebalance.group import set_ends
from rebalance.history import GroupHistory
from rebalance.incidents import Incident, incidents_of
from rebalance.locks import LockHold, LockTable
from rebalance.log_cover import Spans, limit_to_logs, log_spans
from rebalance.metrics import GroupMetrics, metrics_of
from rebalance.model import MessageQueue, Settings
from rebalance.notes import Note, RecordNotes, notes_of
from rebalance.ownership import OwnershipIndex, OwnershipInterval, QueueOwners, intervals_of
from rebalance.pop import pop_doubts
from rebalance.round_clock import ROUND_MS
from rebalance.rounds import Round, RoundCauses
from rebalance.table import QueueTable
from rebalance.targets import Assignment, Targets
from rebalance.zones import in_zone

SETTLE_MS = 400  # a request tells when it was sent or handled, not when the client's own threads saw the change
_MAX_QUEUES = 65_536  # a damaged route must not ask for more
_ALWAYS = (-(1 << 62), 1 << 62)
_NOT_A_BROKERS = (ClientFact, ConnectionsSeen, GroupConfigSeen, RouteSeen, UnreadRecord)
_AT_MS = attrgetter("at_ms")
_Row = TypeVar("_Row")


class GroupReplay:
    """One group's replayed history; every kind of row is worked out once, when first asked for."""

    def __init__(self, history: GroupHistory) -> None:
        self.history = history

    @cached_property
    def index(self) -> OwnershipIndex:
        h = self.history
        return OwnershipIndex(h.group, h.queues, h.tenures, h.doubts, known=h.known, gaps=h.gaps, settle_ms=h.settle_ms)

    @cached_property
    def incidents(self) -> list[Incident]:
        return incidents_of(self.history)

    @cached_property
    def causes(self) -> RoundCauses:
        return RoundCauses(self.history, self.incidents)

    @cached_property
    def targets(self) -> Targets:
        return Targets(self.history)

    @cached_property
    def intervals(self) -> list[OwnershipInterval]:
        return intervals_of(self.history, self.causes)

    @cached_property
    def anomalies(self) -> list[Anomaly]:
        return Anomalies(self.history, self.incidents, self.causes, lambda: self.targets).find()

    @cached_property
    def divergence(self) -> list[Divergence]:
        return divergence_of(self.history, self.targets)

    @cached_property
    def exposures(self) -> list[Exposure]:
        return exposures_of(self.history, {id(t): self.causes.of_begin(t) for t in self.history.tenures})


class Replay:
    """Everything the facts tell; rows of all groups, groups in name order."""

    def __init__(self, groups: list[GroupReplay], notes: list[Note]) -> None:
        self.groups = groups
        self._notes = notes

    def ownership_at(self, at_ms: int) -> list[QueueOwners]:
        """Owners of every known queue at one instant (epoch ms), groups and queues in order."""
        return self._all(lambda group: group.index.at(at_ms))

    @property
    def intervals(self) -> list[OwnershipInterval]:
        return self._all(lambda group: group.intervals)

    @property
    def rounds(self) -> list[Round]:
        return self._all(lambda group: group.causes.rounds())

    @property
    def assignments(self) -> list[Assignment]:
        return self._all(lambda group: group.targets.assignments())

    @property
    def divergence(self) -> list[Divergence]:
        return self._all(lambda group: group.divergence)

    @property
    def incidents(self) -> list[Incident]:
        return self._all(lambda group: group.incidents)

    @property
    def anomalies(self) -> list[Anomaly]:
        return self._all(lambda group: group.anomalies)

    @property
    def locks(self) -> list[LockHold]:
        """Holds of queue locks at the brokers, by group and time of the grant."""
        return self._all(lambda group: group.history.locks.holds)

    @property
    def exposures(self) -> list[Exposure]:
        return self._all(lambda group: group.exposures)

    @property
    def notes(self) -> list[Note]:
        """Why answers are wider than they could be: about the record first, then by group."""
        return self._notes + self._all(lambda group: notes_of(group.history, _ALWAYS))

    def metrics(self) -> list[GroupMetrics]:
        return self._all(lambda group: metrics_of(group.history))

    def _all(self, rows: Callable[[GroupReplay], Iterable[_Row]]) -> list[_Row]:
        return [row for group in self.groups for row in rows(group)]


@dataclass
class _Record:
    """The facts of one replay, sorted into groups and brokers."""

    groups: dict[str, GroupRecord] = field(default_factory=dict)
    broker_facts: list[BrokerStarted | BrokerStopping] = field(default_factory=list)
    routes: list[RouteSeen] = field(default_factory=list)
    first: dict[str, Fact] = field(default_factory=dict)
    first_ms: int = 0
    last_ms: int = 0
    last: dict[str, int] = field(default_factory=dict)
    settle_ms: int = SETTLE_MS
    logs: Spans = field(default_factory=dict)

    @cached_property
    def broker_events(self) -> list[BrokerEvent]:
        return broker_events(self.broker_facts)

    @cached_property
    def starts(self) -> dict[str, list[int]]:
        return instants_of(BROKER_STARTED, self.broker_events)

    @cached_property
    def stops(self) -> dict[str, list[int]]:
        return instants_of(BROKER_STOPPED, self.broker_events)


def replay(facts: Iterable[Fact], *, settings: Settings | None = None) -> Replay:
    """Replays any mix of facts; their order in the input matters only where instants are equal."""
    settings = settings or Settings()
    notes = RecordNotes()
    read = list(notes.watch(facts))
    edges: list[Fact] = notes.log_edges
    if notes.zone_unknown:
        read, edges = _without_edges(in_zone([*read, *edges]))
    if edges:
        wrong = notes.wrong_clocks = wrong_clocks([*read, *edges])
        read, edges = _without_edges(by_clock([*read, *edges], wrong)) if wrong else (read, edges)
    record = _read(sorted(read, key=_AT_MS))
    record.logs = log_spans(edges)
    record.settle_ms = SETTLE_MS + notes.worst_jump_ms
    known = _known_span(record, settings)
    down = _down_spans(record, settings)
    groups = (_history(record.groups[name], record, known, down, settings) for name in sorted(record.groups))
    return Replay([GroupReplay(history) for history in groups if history is not None], notes.notes())


def _read(ordered: list[Fact]) -> _Record:
    record = _Record()
    if ordered:
        record.first_ms, record.last_ms = ordered[0].at_ms, ordered[-1].at_ms
    first = record.first
    by_group: defaultdict[str, list[Fact]] = defaultdict(list)
    for fact in ordered:
        if isinstance(fact, GroupFact):
            by_group[fact.group].append(fact)
        else:
            _read_common(record, fact)
        if fact.source not in first and not isinstance(fact, _NOT_A_BROKERS):
            first[fact.source] = fact
    for name, facts in by_group.items():
        group = record.groups[name] = GroupRecord(name)
        group.read(facts)
    record.last = _last_of(first, ordered)
    return record


def _last_of(brokers: Collection[str], ordered: Sequence[Fact]) -> dict[str, int]:
    """The last instant of which each broker tells."""
    last: dict[str, int] = {}
    for fact in reversed(ordered):
        if len(last) == len(brokers):
            break
        if fact.source in brokers:
            last.setdefault(fact.source, fact.at_ms)
    return last


def _without_edges(facts: Iterable[Fact]) -> tuple[list[Fact], list[Fact]]:
    """Facts, and those of them that say where a log begins and ends."""
    read: list[Fact] = []
    edges: list[Fact] = []
    for fact in facts:
        (edges if isinstance(fact, LogBegins | LogEnds) else read).append(fact)
    return read, edges


def _read_common(record: _Record, fact: Fact) -> None:
    """What is said of a broker or a topic goes to every group."""
    if isinstance(fact, BrokerStarted | BrokerStopping):
        record.broker_facts.append(fact)
    elif isinstance(fact, RouteSeen):
        record.routes.append(fact)


def _history(
    group: GroupRecord,
    record: _Record,
    known: tuple[int, int],
    down: dict[str, list[tuple[int, int]]],
    settings: Settings,
) -> GroupHistory | None:
    """None: no client of the group was ever named."""
    processes = group.processes()
    if not processes and not group.polled.members:
        return None
    set_ends(processes, record.starts, record.stops, settings)
    for process in processes:
        process.seen_from_start = known[0] == _ALWAYS[0] or process.newborn or process.log_from_start
    captured = frozenset(channel.broker for p in processes for channel in p.channels if channel.requests)
    tenures = [tenure for process in processes for tenure in QueueTable(process, down).tenures()]
    limit_to_logs(tenures, record.logs)
    polled = group.polled
    topics = (polled.topics | group.pop_topics).union(topic for process in processes for topic in process.versions)
    seen = {tenure.queue for tenure in tenures} | {queue for _, queue in polled.tables} | group.pop_queues
    shared = frozenset(group.pop_topics)
    tenures = [tenure for tenure in tenures if tenure.queue.topic not in shared]
    queues = _with_lower_ids(seen | _route_queues(record.routes, topics))
    locks = LockTable(group.group, settings, record.starts)
    locks.replay(group.locks)
    return GroupHistory(
        group.group,
        processes,
        tenures,
        [
            *doubts_of(processes, tenures, queues, down, known[0], captured, record.logs, polled),
            *pop_doubts(processes, queues, shared),
        ],
        known,
        settings,
        down,
        record.starts,
        record.stops,
        record.broker_events,
        locks,
        group.rollbacks(),
        record.routes,
        queues,
        record.settle_ms,
        gaps_of(processes, down, warm_up_ms=_warm_up_ms(settings)),
        shared,
        group.changes_heard,
    )


def _route_queues(routes: Iterable[RouteSeen], topics: set[str]) -> set[MessageQueue]:
    """Every queue that a route ever showed of these topics."""
    return {
        MessageQueue(part.topic, part.broker_name, queue_id)
        for route in routes
        if route.topic in topics
        for part in route.queues
        for queue_id in range(min(part.read_queue_nums, _MAX_QUEUES))
    }


def _with_lower_ids(queues: Iterable[MessageQueue]) -> frozenset[MessageQueue]:
    """With the queues that must exist beside these: ids count from 0 on each broker."""
    highest: dict[tuple[str, str], int] = {}
    for queue in queues:
        place = queue.topic, queue.broker_name
        highest[place] = max(queue.queue_id, highest.get(place, 0))
    return frozenset(
        MessageQueue(topic, broker, queue_id)
        for (topic, broker), last in highest.items()
        for queue_id in range(min(last + 1, _MAX_QUEUES))
    )


def _known_span(record: _Record, settings: Settings) -> tuple[int, int]:
    """The span the facts speak for: open towards a side where every broker was down, since nobody consumed there.

    A record that starts in the middle speaks once every living process has heartbeated and persisted its offsets.
    """
    middle = [fact.at_ms for fact in record.first.values() if not isinstance(fact, BrokerStarted)]
    born = bool(record.first) and not middle
    gone = bool(record.first) and all(_stopped(record, broker) for broker in record.first)
    return (
        _ALWAYS[0] if born else max(middle, default=record.first_ms) + _warm_up_ms(settings),
        _ALWAYS[1] if gone else _told_until(record) - ROUND_MS,
    )


def _warm_up_ms(settings: Settings) -> int:
    """In so much time every living process heartbeats and persists its offsets."""
    return settings.heartbeat_broker_interval_ms + settings.persist_consumer_offset_interval_ms


def _told_until(record: _Record) -> int:
    """The end of the record: of several brokers that of the first to fall silent, unless it went down."""
    ends = [
        max(record.last[broker], record.logs.get(broker, (0, 0))[1])
        for broker in record.first
        if not _stopped(record, broker)
    ]
    if not record.first:
        ends = [end for _, end in record.logs.values()]
    return min(ends, default=record.last_ms)


def _stopped(record: _Record, broker: str) -> bool:
    stops, starts = record.stops.get(broker, []), record.starts.get(broker, [])
    return bool(stops) and (not starts or stops[-1] > starts[-1])


def _down_spans(record: _Record, settings: Settings) -> dict[str, list[tuple[int, int]]]:
    """When each broker was away, as its clients may still see it: they learn of its return at their next route poll."""
    late_ms = settings.poll_name_server_interval_ms + settings.rebalance_wait_interval_ms
    return {broker: list(_down_of(record, broker, late_ms)) for broker in sorted(record.stops)}


def _down_of(record: _Record, broker: str, late_ms: int) -> Iterator[tuple[int, int]]:
    for stopped in record.stops[broker]:
        back = min((start for start in record.starts.get(broker, ()) if start > stopped), default=None)
        yield stopped, _ALWAYS[1] if back is None else back + late_ms


def split_by_group(facts: Iterable[Fact]) -> dict[str, list[Fact]]:
    """Facts by group, for replays of their own: what is said of brokers and topics goes to every group."""
    common: list[Fact] = []
    groups: dict[str, list[Fact]] = {}
    for fact in facts:
        if isinstance(fact, GroupFact):
            groups.setdefault(fact.group, []).append(fact)
        else:
            common.append(fact)
    return {group: common + groups[group] for group in sorted(groups)}
