"""What logs and captures of a cluster say of offsets that were moved, gathered for the joins of `offset_events`."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from parsers.config.groups import SYSTEM_GROUP_PREFIX
from pipelines.answers.offsets.in_time import InTime, Span
from pipelines.recordings.lines import Problem, lines_of
from pipelines.recordings.recordings import Recording, facts_of, find_recordings
from rebalance.facts import OffsetCommitted
from rebalance.readers.logs import LogReader, texts
from rebalance.readers.logs.offset_lines import LineKind, OffsetLine, offset_lines
from rebalance.readers.logs.reader import LogEvent

GroupQueueKey = tuple[str, str, int]
"""(group, topic, queue_id)."""
STOPPING = frozenset({"broker_stopping", "broker_holds_no_pulls", "broker_unregistered"})
"""Lines of a broker that stops: those who leave from then on lose their connection."""
MOST_STATEMENTS = 1 << 20
"""Statements kept of all recordings together; commits are kept apart, 16 bytes each."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One line and where it stands."""

    line: OffsetLine
    evidence: str

    @property
    def from_ms(self) -> int:
        return self.line.at_ms - self.line.early_ms

    @property
    def until_ms(self) -> int:
        return self.line.at_ms + self.line.late_ms

    @property
    def span(self) -> Span:
        return self.from_ms, self.until_ms


K = TypeVar("K", bound=Hashable)


def statements_by(key: Callable[[Statement], K], statements: Iterable[Statement]) -> InTime[K, Statement]:
    """Statements by what they are about."""
    return InTime(statements, key, lambda each: each.span)


@dataclass(slots=True)
class Commits:
    """The commits of one queue, in order of time once `sorted` was called: epoch ms and the offset of each."""

    at_ms: array[int] = field(default_factory=lambda: array("q"))
    offset: array[int] = field(default_factory=lambda: array("q"))

    def add(self, at_ms: int, offset: int) -> None:
        self.at_ms.append(at_ms)
        self.offset.append(offset)

    def sort(self) -> None:
        order = sorted(range(len(self.at_ms)), key=self.at_ms.__getitem__)
        self.at_ms = array("q", (self.at_ms[row] for row in order))
        self.offset = array("q", (self.offset[row] for row in order))

    def last_before(self, at_ms: int) -> int | None:
        """The offset of the last commit before an instant."""
        row = bisect_left(self.at_ms, at_ms) - 1
        return self.offset[row] if row >= 0 else None

    def between(self, from_ms: int, until_ms: int) -> list[int]:
        """The offsets committed from one instant to another, both included."""
        return self.offset[bisect_left(self.at_ms, from_ms) : bisect_right(self.at_ms, until_ms)].tolist()


@dataclass(slots=True)
class Presence:
    """The consumers of one group that a broker's log shows: who came or went when, and when there was nobody left.

    `changes` are in order of time once the record was put in order.
    """

    changes: list[tuple[int, str, bool]] = field(default_factory=list)
    nobody_ms: list[int] = field(default_factory=list)

    def is_empty(self, from_ms: int, until_ms: int, boots: Iterable[int]) -> bool:
        """Whether nobody was connected in all of [from_ms, until_ms], as far as it is known: since the broker started
        (`boots`), or since a line said that nobody was left."""
        since_ms = max((at for at in (*boots, *self.nobody_ms) if at <= from_ms), default=None)
        if since_ms is None:
            return False
        connected: set[str] = set()
        for at_ms, remote, is_there in self.changes[bisect_left(self.changes, since_ms, key=_change_ms) :]:
            if at_ms > until_ms:
                break
            if at_ms >= from_ms:
                return False
            (connected.add if is_there else connected.discard)(remote)
        return not connected

    def absences(self, boots: Iterable[int], until_ms: int) -> list[Span]:
        """The spans up to an instant in which nobody was connected, as far as it is known: as for `is_empty`."""
        resets = [(at, "", False) for at in (*boots, *self.nobody_ms)]
        connected: set[str] = set()
        found: list[Span] = []
        since_ms: int | None = None
        is_known = False
        for at_ms, remote, is_there in sorted([*resets, *self.changes], key=_change_ms):
            if not remote:
                connected.clear()
                is_known = True
            else:
                (connected.add if is_there else connected.discard)(remote)
            if is_known and not connected and since_ms is None:
                since_ms = at_ms
            elif connected and since_ms is not None:
                found.append((since_ms, at_ms))
                since_ms = None
        return [*found, (since_ms, until_ms)] if since_ms is not None and since_ms < until_ms else found

    def is_somebody(self, at_ms: int) -> bool:
        """Whether a consumer that connected was not seen to leave by an instant."""
        connected: set[str] = set()
        for _, remote, is_there in self.changes[: bisect_right(self.changes, at_ms, key=_change_ms)]:
            (connected.add if is_there else connected.discard)(remote)
        return bool(connected)


@dataclass(slots=True)
class OffsetRecord:
    """What the recordings say.

    Attributes:
        statements: in order of time, commits left out.
        commits: by queue.
        presence: by group; `covered`: from when to when broker logs speak; `boots`, `stops`: when the broker started
            and was told to stop.
        clients: address -> client id, of connections that a broker's log shows.
        by_kind: the statements again; `offline`: answers given, by group and window.
    """

    statements: list[Statement] = field(default_factory=list)
    commits: dict[GroupQueueKey, Commits] = field(default_factory=dict)
    presence: dict[str, Presence] = field(default_factory=dict)
    covered: list[tuple[int, int]] = field(default_factory=list)
    boots: list[int] = field(default_factory=list)
    stops: list[int] = field(default_factory=list)
    clients: dict[str, str] = field(default_factory=dict)
    by_kind: dict[LineKind, list[Statement]] = field(default_factory=dict)
    offline: dict[tuple[str, int, int], bool] = field(default_factory=dict)

    def of(self, kind: LineKind) -> list[Statement]:
        """The statements of one kind, in order of time."""
        return self.by_kind.get(kind, [])

    def client(self, address: str | None) -> str | None:
        """The client id behind an address where a broker's log shows it, else the address."""
        return None if address is None else self.clients.get(address, address)

    def put_in_order(self) -> None:
        """Sort by time; to be called once all is taken in."""
        self.statements.sort(key=_at_ms)
        for each in self.statements:
            self.by_kind.setdefault(each.line.kind, []).append(each)
        for commits in self.commits.values():
            commits.sort()
        for presence in self.presence.values():
            presence.changes.sort(key=_change_ms)

    def is_offline(self, group: str, from_ms: int, until_ms: int) -> bool:
        """Whether a broker's log shows that no consumer of a group was connected in all of [from_ms, until_ms]."""
        asked = group, from_ms, until_ms
        if asked not in self.offline:
            is_covered = any(begin <= from_ms and until_ms <= end for begin, end in self.covered)
            is_known = is_covered and not group.startswith(SYSTEM_GROUP_PREFIX)
            presence = self.presence.get(group, Presence())
            self.offline[asked] = is_known and presence.is_empty(from_ms, until_ms, self.boots)
        return self.offline[asked]


def read_offset_record(paths: Iterable[Path], *, broker: str | None = None, problem: Problem) -> OffsetRecord:
    """What the logs and captures among files and folders say; what cannot be read goes to `problem`.

    Raises:
        FileNotFoundError: a path that is not there.
    """
    record = OffsetRecord()
    for recording in find_recordings(paths, broker=broker, problem=problem):
        if recording.kind == "log":
            _take_log(record, recording, problem)
        elif recording.kind in ("wire", "pcap"):
            _take_capture(record, recording, problem)
        if len(record.statements) >= MOST_STATEMENTS:
            problem(f"{recording.name}: more than {MOST_STATEMENTS} lines about offsets; what follows was left out")
            break
    record.put_in_order()
    return record


def _at_ms(each: Statement) -> int:
    return each.line.at_ms


def _change_ms(change: tuple[int, str, bool]) -> int:
    return change[0]


def _take_log(record: OffsetRecord, recording: Recording, problem: Problem) -> None:
    reader = LogReader()
    for event in reader.events(line for path in recording.paths for line in lines_of(path, problem)):
        _note_presence(record, event)
        for line in offset_lines(event):
            key = _key(line)
            if line.kind is LineKind.COMMITTED and key is not None and line.after is not None:
                record.commits.setdefault(key, Commits()).add(line.at_ms, line.after)
            elif len(record.statements) < MOST_STATEMENTS:
                record.statements.append(Statement(line, f"{recording.name}:{line.record}"))
    first, last = reader.summary.first, reader.summary.last
    if first is not None and last is not None and "broker" in {path.name.partition(".")[0] for path in recording.paths}:
        record.covered.append((first[0][0], last[0][0]))


def _take_capture(record: OffsetRecord, recording: Recording, problem: Problem) -> None:
    for fact in facts_of(recording, problem):
        if isinstance(fact, OffsetCommitted):
            key = (fact.group, fact.queue.topic, fact.queue.queue_id)
            record.commits.setdefault(key, Commits()).add(fact.at_ms, fact.queue_offset)


def _key(line: OffsetLine) -> GroupQueueKey | None:
    if line.group is None or line.topic is None or line.queue_id is None:
        return None
    return line.group, line.topic, line.queue_id


def _note_presence(record: OffsetRecord, event: LogEvent) -> None:
    """Who connected and who went, by the broker's log."""
    if event.template.name == "broker_started":
        record.boots.append(event.at_ms - event.early_ms)
    elif event.template.name in STOPPING:
        record.stops.append(event.at_ms - event.early_ms)
    elif event.template.name == "group_gone":
        record.presence.setdefault(event.named_fields["group"], Presence()).nobody_ms.append(
            event.at_ms + event.late_ms
        )
    for group, remote, client_id, is_there in _changes(event):
        at_ms = event.at_ms - event.early_ms if is_there else event.at_ms + event.late_ms
        record.presence.setdefault(group, Presence()).changes.append((at_ms, remote, is_there))
        if is_there and client_id is not None and len(record.clients) < MOST_STATEMENTS:
            record.clients[remote] = client_id


def _changes(event: LogEvent) -> Iterator[tuple[str, str, str | None, bool]]:
    fields, name = event.named_fields, event.template.name
    if name in ("consumer_connected", "consumer_unregistered", "channel_closed"):
        channel = texts.channel_info(fields["channel_info"])
        if channel.remote is not None:
            yield fields["group"], channel.remote, channel.client_id, name == "consumer_connected"
    elif name == "channel_expired":
        yield fields["group"], texts.address(fields["remote"]), None, False
