"""What is wrong with the input itself: clocks that went back or differ, records that cannot be read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from operator import attrgetter

from rebalance.facts import Fact, LogBegins, LogEnds, UnreadRecord
from rebalance.facts.clock_offset import ClockOffset, was_set
from rebalance.facts.time_zone import of_unknown_zone
from rebalance.model.timing import THREADS_MS

UNREAD_RECORDS = "unread_records"
CLOCK_WENT_BACK = "clock_went_back"
REORDERED = "reordered"
CLOCK_DIFFERS = "clock_differs"


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
        """Passes the facts on, but for those that say where a log begins and ends, and for records that were not read:
        the instant of such a record is as little known as the rest of it.
        """
        name: str | None = None
        last = _File(0, 0)
        for fact in facts:
            (file_name, record), at_ms = fact.evidence, fact.at_ms
            if file_name != name:
                name = file_name
                last = self._files.setdefault(name, _File(record, at_ms))
            if isinstance(fact, UnreadRecord):
                last.unread += 1
                last.first_unread = last.first_unread or f"record {record}: {fact.reason}"
                continue
            if record >= last.record:
                if at_ms < last.at_ms - THREADS_MS:
                    last.jumps += 1
                    last.worst_ms = max(last.worst_ms, last.at_ms - at_ms)
                last.record, last.at_ms = record, at_ms
            kind = type(fact)
            if kind is LogBegins or kind is LogEnds:
                self.log_edges.append(fact)
                continue
            if fact.early_ms and of_unknown_zone(fact):
                self.zone_unknown = True
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
