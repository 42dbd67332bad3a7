"""Whose log it is, and when on the reference clock an entry was written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict

from rebalance.facts import Evidence
from rebalance.facts.clock_offset import SAME_CLOCK, ClockOffset
from rebalance.readers.logs.lines.reader import LogEvent


class When(TypedDict):
    """The arguments every fact of a log line shares."""

    at_ms: int
    early_ms: int
    late_ms: int
    source: str
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class Origin:
    """`source` names the broker, or the client log; `file` is what the facts' evidence names."""

    source: str
    file: str
    clock_ahead: ClockOffset = SAME_CLOCK

    def when(self, event: LogEvent) -> When:
        """The entry's instant on the reference clock, wider by what is not known of the host's clock."""
        return self.placed(event.at_ms, event.early_ms, event.late_ms, event.record)

    def placed(self, at_ms: int, early_ms: int, late_ms: int, record: int) -> When:
        """An instant of the host's clock, printed on that line, on the reference clock."""
        min_ms, max_ms = self.clock_ahead
        return {
            "at_ms": at_ms - min_ms,
            "early_ms": early_ms + max_ms - min_ms,
            "late_ms": late_ms,
            "source": self.source,
            "evidence": Evidence(self.file, record),
        }

    def when_told(self, event: LogEvent, told_ms: int | None) -> When:
        """The entry's instant, where the line also prints the instant of its cause on the same clock (epoch ms).

        The cause cannot come after its line, so a line stamped to the second is narrowed to
        [told_ms, end of that second].
        """
        when = self.when(event)
        if told_ms is not None and event.at_ms <= told_ms <= event.at_ms + event.late_ms:
            when["at_ms"] += told_ms - event.at_ms
            when["late_ms"] -= told_ms - event.at_ms
        return when

    def reference_ms(self, told_ms: int | None) -> int | None:
        """An instant the host printed, on the reference clock."""
        return None if told_ms is None else told_ms - self.clock_ahead.min_ms
