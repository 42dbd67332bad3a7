"""The door: facts in, a replayed history of ownership out. Pure: the same facts give the same rows.

Facts are put in one total order (at_ms, then position in the input), split by group and joined to processes; each
process's queue table is read out of its rounds (`rebalance.tenures.queue_table`). Rows are worked out when first
asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TypeVar

from parsers.values.utc import utc_text
from rebalance.diagnosis.anomalies import Anomalies
from rebalance.diagnosis.anomaly import Anomaly
from rebalance.diagnosis.causes import RoundCauses
from rebalance.diagnosis.divergence import Divergence, divergence_of
from rebalance.diagnosis.exposures import Exposure, exposures_of
from rebalance.diagnosis.incidents import Incident, incidents_of
from rebalance.diagnosis.intervals import OwnershipInterval, intervals_of
from rebalance.diagnosis.metrics import GroupMetrics, metrics_of
from rebalance.diagnosis.targets import Assignment, Targets
from rebalance.facts import Fact, LogBegins, LogEnds, RouteSeen
from rebalance.facts.clock_offset import by_clock, wrong_clocks
from rebalance.facts.input_notes import Note, RecordNotes
from rebalance.facts.log_spans import log_spans
from rebalance.facts.time_zone import in_zone
from rebalance.holes.holes import gaps_of, holes_of
from rebalance.model.message_queue import MessageQueue
from rebalance.model.settings import Settings
from rebalance.model.span import ALWAYS
from rebalance.model.timing import PAUSE_MS, SETTLE_MS
from rebalance.ownership.doubts import Doubt, Watched, doubts_of, pop_doubts, unnamed
from rebalance.ownership.history import GroupHistory
from rebalance.ownership.notes import notes_of
from rebalance.ownership.owners import OwnershipIndex, QueueOwners
from rebalance.processes.ends import ends_of
from rebalance.processes.group_record import GroupRecord
from rebalance.processes.life import Life
from rebalance.processes.locks import LockHold, LockTable
from rebalance.processes.process import Process, first_commits
from rebalance.processes.sorted_facts import Record, read_record, warm_up_ms
from rebalance.tenures.segments import Segment, segments_of, whole

_MAX_QUEUES = 65_536  # a damaged route must not ask for more
_Row = TypeVar("_Row")


class GroupReplay:
    """One group's replayed history; every kind of row is worked out once, when first asked for."""

    def __init__(self, history: GroupHistory) -> None:
        self.history = history

    @cached_property
    def index(self) -> OwnershipIndex:
        h = self.history
        known = max(h.known[0], h.told[0]), min(h.known[1], h.told[1])
        return OwnershipIndex(h.group, h.queues, h.tenures, h.doubts, known=known, gaps=h.gaps, settle_ms=h.settle_ms)

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
        return exposures_of(self.history, {t: self.causes.of_begin(t) for t in self.history.tenures})


class Replay:
    """Everything the facts tell; rows of all groups, groups in name order."""

    def __init__(self, groups: list[GroupReplay], notes: list[Note]) -> None:
        self.groups = groups
        self._notes = notes

    def ownership_at(self, at_ms: int) -> list[QueueOwners]:
        """Owners of every known queue at one instant (epoch ms), groups and queues in order."""
        return self._all(lambda group: group.index.at(at_ms))

    @property
    def told(self) -> tuple[int, int] | None:
        """From when to when (epoch ms) anything is on record; None without a group."""
        return self.groups[0].history.told if self.groups else None

    def silent_at(self, at_ms: int) -> str | None:
        """Why nothing is certain of an instant that lies before or after everything on record; None: it does not."""
        if self.told is None or self.told[0] <= at_ms <= self.told[1]:
            return None
        span = " to ".join(map(utc_text, self.told))
        return f"{utc_text(at_ms)} is not on record, which tells of {span}: nothing is certain then"

    @property
    def intervals(self) -> list[OwnershipInterval]:
        return self._all(lambda group: group.intervals)

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
        return self._notes + self.group_notes

    @property
    def group_notes(self) -> list[Note]:
        """Why answers about groups are wider than they could be, by group."""
        return self._all(lambda group: notes_of(group.history, ALWAYS))

    def metrics(self) -> list[GroupMetrics]:
        return self._all(lambda group: metrics_of(group.history))

    def _all(self, rows: Callable[[GroupReplay], Iterable[_Row]]) -> list[_Row]:
        return [row for group in self.groups for row in rows(group)]


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
    record = read_record(read, log_spans(edges), settings)
    settle_ms = SETTLE_MS + notes.worst_jump_ms
    groups = (_history(record.groups[name], record, settle_ms) for name in sorted(record.groups))
    return Replay([GroupReplay(history) for history in groups if history is not None], notes.notes())


def _without_edges(facts: Iterable[Fact]) -> tuple[list[Fact], list[Fact]]:
    """Facts, and those of them that say where a log begins and ends."""
    read: list[Fact] = []
    edges: list[Fact] = []
    for fact in facts:
        (edges if isinstance(fact, LogBegins | LogEnds) else read).append(fact)
    return read, edges


def _history(group: GroupRecord, record: Record, settle_ms: int) -> GroupHistory | None:
    """None: no client of the group was ever named."""
    processes = group.processes()
    if not processes and not group.polled.members:
        return None
    settings, known, down = record.settings, record.known, record.down
    ends = ends_of(processes, record.starts, record.stops, settings)
    holes = holes_of(processes, down, record.starts, record.stops, record.last_ms, known[0] == ALWAYS[0])
    lives = [
        Life(process, end, holes, _seen_from_start(process, record, holes))
        for process, end in zip(processes, ends, strict=True)
    ]
    segments = segments_of(lives, holes, down, record.logs)
    polled = group.polled
    topics = (polled.topics | group.pop_topics).union(topic for process in processes for topic in process.versions)
    seen = {tenure.queue for segment in segments for tenure in segment.tenures} | group.pop_queues
    queues = _with_lower_ids(seen.union((queue for _, queue in polled.tables), _route_queues(record.routes, topics)))
    shared = frozenset(group.pop_topics)
    committed = first_commits(processes) if holes or record.logs else {}
    doubts = [doubt for segment in segments for doubt in _doubts(segment, group, record, queues, committed)]
    whole_lives, tenures = whole(segments, lives, committed, warm_up_ms(settings))
    locks = LockTable(group.group, settings, record.starts)
    locks.replay(group.locks, group.lock_answers)
    return GroupHistory(
        group=group.group,
        lives=whole_lives,
        tenures=[tenure for tenure in tenures if tenure.queue.topic not in shared],
        doubts=[*doubts, *pop_doubts(lives, queues, shared)],
        known=known,
        told=record.told,
        settings=settings,
        down=down,
        starts=record.starts,
        stops=record.stops,
        broker_events=record.broker_events,
        locks=locks,
        late_locks=tuple(group.late_locks.all()),
        rollbacks=group.rollbacks(),
        routes=record.routes,
        queues=queues,
        settle_ms=settle_ms,
        gaps=gaps_of(holes, processes, warm_up_ms=warm_up_ms(settings)),
        pop_topics=shared,
        changes_heard=group.changes_heard,
    )


def _seen_from_start(process: Process, record: Record, holes: Sequence[tuple[int, int]]) -> bool:
    """Whether it cannot have held a queue before its first sign: it began on record, or no broker was up before."""
    if process.newborn or process.log_from_start:
        return True
    if record.known[0] != ALWAYS[0] or (holes and holes[0][1] <= process.first_ms):
        return False
    if not process.captured:  # its log may begin in the middle; the log of a broker names its first connection
        return not process.has_log or process.first_ms < process.told_from_ms
    began_ms = min(starts[0] for starts in record.starts.values())
    return process.first_ms > began_ms + PAUSE_MS


def _doubts(
    segment: Segment,
    group: GroupRecord,
    record: Record,
    queues: frozenset[MessageQueue],
    committed: Mapping[MessageQueue, int],
) -> list[Doubt]:
    """What one segment of a group's record cannot rule out."""
    since_ms, until_ms = segment.span
    known_from_ms = record.known[0] if segment.hole_ms is None else since_ms + warm_up_ms(record.settings)
    captured = frozenset(c.broker for life in segment.lives for c in life.process.channels if c.requests)
    watched = Watched(queues, committed, captured, record.logs, record.down, known_from_ms)
    polled = group.polled.within(segment.hole_ms, until_ms)
    doubts = doubts_of(segment.lives, segment.tenures, polled, watched)
    if segment.hole_ms is not None:
        doubts += unnamed(segment.lives, queues, committed, (segment.hole_ms, since_ms))
    return [doubt.within(segment.hole_ms, until_ms) for doubt in doubts]


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
    """The queues, and those that must exist beside them: ids count from 0 on each broker."""
    highest: dict[tuple[str, str], int] = {}
    for queue in queues:
        place = queue.topic, queue.broker_name
        highest[place] = max(queue.queue_id, highest.get(place, 0))
    return frozenset(
        MessageQueue(topic, broker, queue_id)
        for (topic, broker), last in highest.items()
        for queue_id in range(min(last + 1, _MAX_QUEUES))
    )
