"""Lines of one log -> facts, whoever wrote it: the text of a line tells, not the name of the file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from rebalance.clock import SAME_CLOCK, ClockOffset
from rebalance.events import Fact, LogBegins, LogEnds, UnreadRecord
from rebalance.logs.broker_facts import BrokerLog
from rebalance.logs.client_facts import ClientLog
from rebalance.logs.origin import Origin
from rebalance.logs.reader import LogEvent, LogReader, LogSummary
from rebalance.logs.table import UNREADABLE


class LogFacts:
    """Takes recognised entries of one log and gives their facts."""

    def __init__(self, source: str, *, file: str = "", clock_ahead: ClockOffset = SAME_CLOCK) -> None:
        self._origin = Origin(source, file, clock_ahead)
        self._client = ClientLog(self._origin)
        self._of = {
            **BrokerLog(self._origin).builders(),
            **self._client.builders(),
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
        return self._client.runs.rest()

    def edges(self, summary: LogSummary) -> Iterator[Fact]:
        """From when to when the log speaks."""
        for edge, fact_type in ((summary.first, LogBegins), (summary.last, LogEnds)):
            if edge is not None:
                (at_ms, early_ms, late_ms, _), record = edge
                yield fact_type(**self._origin.placed(at_ms, early_ms, late_ms, record))


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
    """Facts of one log, in its order but for those that wait for their client's name. Takes any bytes, never raises.

    Args:
        lines: lines of the log, rotated parts one after the other; an open binary file is one such iterable.
        source: the broker's name, or a name for the client's log.
        file: what the facts' evidence names.
        jvm_zone_ms: see `LogReader`.
        clock_ahead: how far the writing host's clock is ahead of the reference clock (`rebalance.clock` finds it).
        on_event: called with each recognised entry (a row of `log_events`).
        on_end: called with the summary: what was recognised, what not, with samples.
    """
    reader, facts = LogReader(jvm_zone_ms=jvm_zone_ms), LogFacts(source, file=file, clock_ahead=clock_ahead)
    for event in reader.events(lines):
        if on_event is not None:
            on_event(event)
        yield from facts.of(event)
    yield from facts.rest()
    yield from facts.edges(reader.summary)
    if on_end is not None:
        on_end(reader.summary)
