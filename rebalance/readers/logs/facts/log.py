"""Lines of one log -> facts, whoever wrote it: the text of a line tells, not the name of the file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from rebalance.facts import Fact, LogBegins, LogEnds, UnreadRecord
from rebalance.facts.clock_offset import SAME_CLOCK, ClockOffset
from rebalance.readers.logs.facts.broker import BrokerLog
from rebalance.readers.logs.facts.client import ClientLog
from rebalance.readers.logs.facts.cpp import CppLog
from rebalance.readers.logs.facts.go import GoLog
from rebalance.readers.logs.lines.order import EntryOrder
from rebalance.readers.logs.lines.origin import Origin, When
from rebalance.readers.logs.lines.reader import LogEvent, LogReader, LogSummary
from rebalance.readers.logs.lines.stamp import Second
from rebalance.readers.logs.templates.table import UNREADABLE


class LogFacts:
    """Takes recognised entries of one log and gives their facts."""

    def __init__(self, source: str, *, file: str = "", clock_ahead: ClockOffset = SAME_CLOCK) -> None:
        self._origin = Origin(source, file, clock_ahead)
        self._client, self._cpp = ClientLog(self._origin), CppLog(self._origin)
        self._of = {
            **BrokerLog(self._origin).builders(),
            **self._client.builders(),
            **GoLog(self._origin).builders(),
            **self._cpp.builders(),
            UNREADABLE.name: self._unreadable,
        }

    def of(self, event: LogEvent) -> Sequence[Fact]:
        """The facts this entry completes."""
        build = self._of.get(event.template.name)
        return () if build is None else build(event)

    def _unreadable(self, event: LogEvent) -> Sequence[Fact]:
        reason = f"starts like {event.fields[0]}, and is cut or damaged"
        return (UnreadRecord(**self._origin.when(event), reason=reason),)

    def rest(self) -> Sequence[Fact]:
        """What waited for evidence that never came, at the end of the log."""
        return [*self._client.runs.rest(), *self._cpp.runs.rest()]

    def edges(self, summary: LogSummary, order: EntryOrder) -> Iterator[Fact]:
        """From when to when the log speaks; one that was out of order, from its earliest entry to its latest."""
        if summary.first is None or summary.last is None:
            return
        begin, end = self._edge(summary.first), self._edge(summary.last)
        if order.first is not None and order.last is not None:
            begin = min(begin, self._origin.when(order.first), key=_at_ms)
            end = max(end, self._origin.when(order.last), key=_at_ms)
        yield LogBegins(**begin)
        yield LogEnds(**end, moved=order.moved, back_ms=order.back_ms)

    def _edge(self, edge: tuple[Second, int]) -> When:
        (at_ms, early_ms, late_ms, _), record = edge
        return self._origin.placed(at_ms, early_ms, late_ms, record)


def _at_ms(when: When) -> int:
    return when["at_ms"]


def facts_from_log(
    lines: Iterable[bytes | str],
    *,
    source: str,
    file: str = "",
    jvm_zone_ms: int | None = None,
    clock_ahead: ClockOffset = SAME_CLOCK,
    on_event: Callable[[LogEvent], None] | None = None,
    on_end: Callable[[LogSummary], None] | None = None,
) -> Iterator[Fact]:
    """Facts of one log, in its order but for those that wait for their client's name.
    Lines that were moved are put back. Takes any bytes, never raises.

    Args:
        lines: lines of the log, rotated parts one after the other; an open binary file is one such iterable.
        source: the broker's name, or a name for the client's log.
        file: what the facts' evidence names.
        jvm_zone_ms: see `LogReader`.
        clock_ahead: how far the writing host's clock is ahead of the reference clock (`rebalance.facts.clock_offset`
            finds it).
        on_event: called with each recognised entry (a row of `log_events`).
        on_end: called with the summary: what was recognised, what not, with samples.
    """
    reader, facts = LogReader(jvm_zone_ms=jvm_zone_ms), LogFacts(source, file=file, clock_ahead=clock_ahead)
    order = EntryOrder()
    for event in order.ordered(reader.events(lines)):
        if on_event is not None:
            on_event(event)
        yield from facts.of(event)
    yield from facts.rest()
    yield from facts.edges(reader.summary, order)
    if on_end is not None:
        on_end(reader.summary)
