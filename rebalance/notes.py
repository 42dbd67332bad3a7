"""What in the record makes answers wider than they could be, each with its reason."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from operator import attrgetter

from rebalance.clock import JUMP_MS, ClockOffset, was_set
from rebalance.doubts import NEVER_COMMITTED, Doubt
from rebalance.events import Fact, LogBegins, LogEnds, UnreadRecord
from rebalance.history import GroupHistory
from rebalance.log_cover import LOG_ENDS
from rebalance.pop import POP_SHARED, SHARED
from rebalance.version_clock import ahead_ms, changes_of
from rebalance.zones import of_unknown_zone

STARTS_IN_THE_MIDDLE = "starts_in_the_middle"
ENDS_IN_THE_MIDDLE = "ends_in_the_middle"
UNREAD_RECORDS = "unread_records"
CLOCK_WENT_BACK = "clock_went_back"
REORDERED = "reordered"
CLOCK_DIFFERS = "clock_differs"
SILENT = "silent"
ROUNDS_MISSING = "rounds_missing"
NOT_OBSERVED = "not_observed"
_KILLED_MS = 6_000  # a log writes every 5 s; so long after its last line its process was seen to have ended


@dataclass(frozen=True, slots=True)
class Note:
    """One row: `group` None when it is about the whole record; `subject` is a file, a client id, or empty."""

    group: str | None
    kind: str
    subject: str
    detail: str


@dataclass(slots=True)
class _File:
    record: int
    at_ms: int
    jumps: int = 0
    worst_ms: int = 0
    unread: int = 0
    first_unread: str = ""


class RecordNotes:
    """Watches facts in the order they come, file by file."""

    def __init__(self) -> None:
        self._files: dict[str, _File] = {}
        self.log_edges: list[Fact] = []
        self.wrong_clocks: Mapping[str, ClockOffset] = {}
        self.zone_unknown = False

    def watch(self, facts: Iterable[Fact]) -> Iterator[Fact]:
        """Passes the facts on, but for those that say where a log begins and ends."""
        name: str | None = None
        last = _File(0, 0)
        for fact in facts:
            (file_name, record), at_ms = fact.evidence, fact.at_ms
            if file_name != name:
                name = file_name
                last = self._files.setdefault(name, _File(record, at_ms))
            if record >= last.record:
                if at_ms < last.at_ms - JUMP_MS and at_ms:
                    last.jumps += 1
                    last.worst_ms = max(last.worst_ms, last.at_ms - at_ms)
                last.record, last.at_ms = record, at_ms or last.at_ms
            kind = type(fact)
            if kind is LogBegins or kind is LogEnds:
                self.log_edges.append(fact)
                continue
            if fact.early_ms and of_unknown_zone(fact):
                self.zone_unknown = True
            if isinstance(fact, UnreadRecord):
                last.unread += 1
                last.first_unread = last.first_unread or f"record {record}: {fact.reason}"
            yield fact

    @property
    def worst_jump_ms(self) -> int:
        """How far any file's clock went back; answers near a change are that much less sure."""
        seen = max((file.worst_ms for file in self._files.values()), default=0)
        return max((edge.back_ms for edge in self._ends() if edge.back_ms > seen), default=seen)

    def _ends(self) -> list[LogEnds]:
        return [edge for edge in self.log_edges if isinstance(edge, LogEnds)]

    def notes(self) -> list[Note]:
        found = []
        for name, file in sorted(self._files.items()):
            if file.jumps:
                found.append(Note(None, CLOCK_WENT_BACK, name, f"{file.jumps} times, by up to {file.worst_ms} ms"))
            if file.unread:
                found.append(Note(None, UNREAD_RECORDS, name, f"{file.unread} records; first {file.first_unread}"))
        for edge in sorted(self._ends(), key=attrgetter("evidence")):
            if edge.moved:
                found.append(Note(None, REORDERED, edge.evidence.file or edge.source, _put_in_order(edge)))
        for log, lead in sorted(self.wrong_clocks.items()):
            found.append(Note(None, CLOCK_DIFFERS, log, _told(lead)))
        return found


def _put_in_order(edge: LogEnds) -> str:
    clock = f"; or its clock went back by up to {edge.back_ms} ms" if edge.back_ms else ""
    return f"{edge.moved} entries stood after later ones, and were put in order{clock}"


def _told(lead: ClockOffset) -> str:
    if was_set(lead):
        return f"its clock was set in between, by {lead.min_ms - lead.max_ms} ms or more; its lines were left out"
    ahead = f"{lead.min_ms} to {lead.max_ms}" if lead.min_ms < lead.max_ms else f"{lead.min_ms}"
    return f"its clock is {ahead} ms ahead of the brokers'; its lines were moved onto theirs, and are that unsure"


def notes_of(history: GroupHistory, always: tuple[int, int]) -> Iterator[Note]:
    """What limits the answers about one group."""
    if history.known[0] != always[0]:
        yield Note(history.group, STARTS_IN_THE_MIDDLE, "", f"nothing is certain before {history.known[0]}")
    if history.known[1] != always[1]:
        yield Note(history.group, ENDS_IN_THE_MIDDLE, "", f"nothing is certain after {history.known[1]}")
    for begin, end in history.gaps:
        detail = f"nothing is certain from {begin} to {end}: the record has a hole, or its clock was set forward"
        yield Note(history.group, SILENT, "", detail)
    for process in history.processes:
        if process.rounds_missing:
            yield Note(
                history.group, ROUNDS_MISSING, process.client_id, "it asked for member lists that are not on record"
            )
    yield from _clocks_apart(history)
    for topic in sorted(history.pop_topics):
        yield Note(history.group, POP_SHARED, topic, "POP shares its queues among all clients: there is no owner")
    for doubt in history.doubts:
        if doubt.reason not in (SHARED, NEVER_COMMITTED) and not _is_a_kill(doubt):
            yield Note(history.group, NOT_OBSERVED, doubt.client_id, f"{doubt.reason} ({len(doubt.queues)} queues)")


def _clocks_apart(history: GroupHistory) -> Iterator[Note]:
    """Clients, or all clients of a broker's log, whose clock is not that of the record."""
    heard = [(process.client_id, changes_of(process)) for process in history.processes]
    logged = [(broker, list(changes)) for broker, changes in sorted(history.changes_heard.items())]
    for subject, changes in heard + logged:
        ahead = ahead_ms(changes)
        if ahead is not None:
            apart = f"at least {ahead} ms ahead of" if ahead > 0 else f"{-ahead} ms behind"
            yield Note(
                history.group, CLOCK_DIFFERS, subject, f"by subVersions the clients' clock is {apart} the record"
            )


def _is_a_kill(doubt: Doubt) -> bool:
    """Whether a log merely ends with its process."""
    known = doubt.reason == LOG_ENDS and doubt.from_ms is not None and doubt.until_ms is not None
    return known and (doubt.until_ms or 0) - (doubt.from_ms or 0) < _KILLED_MS
