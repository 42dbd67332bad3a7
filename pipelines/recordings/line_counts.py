"""What the lines of logs were: how many were recognised, and how those begin that fit no known text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rebalance.readers.logs.lines.reader import LogSummary


@dataclass(frozen=True, slots=True)
class UnrecognisedLines:
    """One row: lines of one log that begin alike and fit no template. `first_line` counts from 1."""

    log: str
    lines: int
    first_line: int
    text: str


class RecordedLines:
    """Gathers what was in each log that was read."""

    def __init__(self, logs: Iterable[tuple[str, LogSummary]] = ()) -> None:
        self.logs = list(logs)

    def add(self, log: str, summary: LogSummary) -> None:
        """Takes in what one log held."""
        self.logs.append((log, summary))

    @property
    def lines(self) -> int:
        return sum(summary.lines for _, summary in self.logs)

    def sentence(self) -> str:
        """The counts in one sentence."""
        read = [summary for _, summary in self.logs]
        parts = {
            "recognised": sum(summary.recognised for summary in read),
            "of no known text": sum(summary.unrecognised for summary in read),
            "damaged": sum(summary.unreadable for summary in read),
            "that continue the entry above": sum(summary.continued for summary in read),
            "before the first entry": sum(summary.headless for summary in read),
        }
        counted = ", ".join(f"{count:,} {what}" for what, count in parts.items() if count)
        return f"{self.lines:,} lines of {len(read)} logs: {counted}"

    def rows(self) -> Iterator[UnrecognisedLines]:
        """The samples, by log, the most frequent first."""
        for log, summary in self.logs:
            samples = sorted(summary.samples.items(), key=lambda sample: (-sample[1][0], sample[1][1]))
            for text, (lines, first_line) in samples:
                yield UnrecognisedLines(log, lines, first_line, text.decode("utf-8", "replace").rstrip())
