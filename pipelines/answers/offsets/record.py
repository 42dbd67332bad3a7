"""What logs and captures of a cluster say of offsets that were moved, gathered for the joins of `offset_events`."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Hashable, Iterable
from dataclasses import dataclass, field
from typing import TypeVar

from parsers.config.groups import SYSTEM_GROUP_PREFIX
from pipelines.answers.offsets.in_time import InTime, Span
from rebalance.readers.logs.facts.offset_lines import LineKind, OffsetLine
from recovery.lives.config_states import Subject
from recovery.lives.group_life import QUIET_MS
from recovery.lives.story import LifeEvent

GroupQueueKey = tuple[str, str, int]
"""(group, topic, queue_id)."""


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

    def last_before(self, at_ms: int) -> tuple[int, int] | None:
        """The last commit before an instant: when, and of which offset."""
        row = bisect_left(self.at_ms, at_ms) - 1
        return (self.at_ms[row], self.offset[row]) if row >= 0 else None

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
        since_ms = max((nobody_ms for nobody_ms in self.nobody_ms if nobody_ms <= at_ms), default=0)
        connected: set[str] = set()
        begin, end = (bisect_right(self.changes, edge, key=_change_ms) for edge in (since_ms, at_ms))
        for _, remote, is_there in self.changes[begin:end]:
            (connected.add if is_there else connected.discard)(remote)
        return bool(connected)


@dataclass(slots=True)
class OffsetRecord:
    """What the recordings say.

    Attributes:
        statements: in order of time, commits left out.
        commits: by queue, and by the name of its broker; empty where a line does not name it.
        presence: by group; `covered`: from when to when broker logs speak; `boots`, `stops`: when the broker started
            and was ordered to stop.
        deletions: by what was deleted: its subject, and its name.
        clients: address -> client id, of connections that a broker's log shows.
        by_kind: the statements again; `offline`: answers given, by group and window.
    """

    statements: list[Statement] = field(default_factory=list)
    commits: dict[GroupQueueKey, dict[str, Commits]] = field(default_factory=dict)
    presence: dict[str, Presence] = field(default_factory=dict)
    covered: list[tuple[int, int]] = field(default_factory=list)
    boots: list[int] = field(default_factory=list)
    stops: list[int] = field(default_factory=list)
    deletions: dict[tuple[Subject, str], list[LifeEvent]] = field(default_factory=dict)
    clients: dict[str, str] = field(default_factory=dict)
    by_kind: dict[LineKind, list[Statement]] = field(default_factory=dict)
    offline: dict[tuple[str, int, int], bool] = field(default_factory=dict)

    def of(self, kind: LineKind) -> list[Statement]:
        """The statements of one kind, in order of time."""
        return self.by_kind.get(kind, [])

    def client(self, address: str | None) -> str | None:
        """The client id behind an address where a broker's log shows it, else the address."""
        return None if address is None else self.clients.get(address, address)

    def add_commit(self, key: GroupQueueKey, broker: str, at_ms: int, offset: int) -> None:
        """Take one in."""
        self.commits.setdefault(key, {}).setdefault(broker, Commits()).add(at_ms, offset)

    def commits_of(self, brokers: Collection[str]) -> dict[GroupQueueKey, Commits]:
        """By queue the commits at one broker; nothing where none is named. Brokers of a cluster share topic, group and
        number of their queues."""
        return {key: each[broker] for key, each in self.commits.items() for broker in brokers if broker in each}

    def add(self, other: OffsetRecord) -> None:
        """Take in what another one says, commits left out."""
        self.statements += other.statements
        self.covered += other.covered
        self.boots += other.boots
        self.stops += other.stops
        for what, deletions in other.deletions.items():
            self.deletions.setdefault(what, []).extend(deletions)
        self.clients |= other.clients
        for group, presence in other.presence.items():
            mine = self.presence.setdefault(group, Presence())
            mine.changes += presence.changes
            mine.nobody_ms += presence.nobody_ms

    def put_in_order(self) -> None:
        """Sort by time; to be called once all is taken in."""
        self.statements.sort(key=_at_ms)
        self.by_kind.clear()
        for each in self.statements:
            self.by_kind.setdefault(each.line.kind, []).append(each)
        for of_brokers in self.commits.values():
            for commits in of_brokers.values():
                commits.sort()
        for presence in self.presence.values():
            presence.changes.sort(key=_change_ms)

    def offline_since(self, group: str, until_ms: int) -> int | None:
        """Since when no consumer of a group was connected, up to an instant or to the end of a log shortly before it.

        None where somebody was, or no log tells.
        """
        logged_ms = max((min(end, until_ms) for begin, end in self.covered if begin <= until_ms), default=0)
        if logged_ms + QUIET_MS < until_ms or group.startswith(SYSTEM_GROUP_PREFIX):
            return None
        spans = self.presence.get(group, Presence()).absences(self.boots, logged_ms)
        return next((begin for begin, end in spans if begin <= logged_ms <= end), None)

    def was_offline_within(self, group: str, from_ms: int, until_ms: int) -> bool:
        """Whether a broker's log shows an instant between two others at which no consumer of a group was connected."""
        spans = self.presence.get(group, Presence()).absences(self.boots, until_ms)
        return any(from_ms < end and begin < until_ms for begin, end in spans)

    def deletion_of(self, group: str, topic: str, from_ms: int, until_ms: int) -> LifeEvent | None:
        """The deletion of a group or topic that a broker's log tells of within a window."""
        told = [*self.deletions.get(("group", group), ()), *self.deletions.get(("topic", topic), ())]
        within = (life for life in told if from_ms <= (life.latest_ms or 0) and (life.earliest_ms or 0) <= until_ms)
        return next(within, None)

    def is_offline(self, group: str, from_ms: int, until_ms: int) -> bool:
        """Whether a broker's log shows that no consumer of a group was connected in all of [from_ms, until_ms]."""
        asked = group, from_ms, until_ms
        if asked not in self.offline:
            is_covered = any(begin <= from_ms and until_ms <= end for begin, end in self.covered)
            is_known = is_covered and not group.startswith(SYSTEM_GROUP_PREFIX)
            presence = self.presence.get(group, Presence())
            self.offline[asked] = is_known and presence.is_empty(from_ms, until_ms, self.boots)
        return self.offline[asked]


def _at_ms(each: Statement) -> int:
    return each.line.at_ms


def _change_ms(change: tuple[int, str, bool]) -> int:
    return change[0]
