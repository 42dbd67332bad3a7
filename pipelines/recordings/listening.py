"""One pass over recordings for all that is asked of them: each log is parsed once, whoever listens."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from pipelines.recordings.lines import Problem, lines_of
from pipelines.recordings.recordings import Recording, facts_of

if TYPE_CHECKING:
    from rebalance.facts import Fact
    from rebalance.readers.logs.lines.reader import LogEvent, LogSummary

Take = Callable[["LogEvent"], None]
End = Callable[["LogSummary"], None]


class Listener:
    """One who wants something of recordings; what a subclass leaves as it is, it does not ask for."""

    hears_captures = False
    """Whether `captured` is to be called."""

    def log(self, recording: Recording) -> Take | None:
        """What takes the recognised entries of a log, moved ones put back in order; None: nothing of it is asked."""

    def ended(self, recording: Recording, summary: LogSummary) -> None:
        """The log was read to its end, and held this."""

    def captured(self, fact: Fact) -> None:
        """A fact of a capture."""

    def problems(self) -> Sequence[str]:
        """What was left out of what was heard, a sentence each; to be asked once all is read."""
        return ()


def hear(recordings: Iterable[Recording], listeners: Sequence[Listener], problem: Problem) -> None:
    """Read what somebody listens to; what cannot be read goes to `problem`."""
    from rebalance.readers.logs.lines.order import EntryOrder
    from rebalance.readers.logs.lines.reader import LogReader

    for recording in recordings:
        if recording.kind == "log":
            take, end = _ears(recording, listeners)
            if take is not None:
                reader = LogReader()
                lines = (line for path in recording.paths for line in lines_of(path, problem))
                for event in EntryOrder().ordered(reader.events(lines)):
                    take(event)
                end(reader.summary)
        elif recording.kind in ("wire", "pcap") and any(each.hears_captures for each in listeners):
            for _ in hear_facts(recording, listeners, problem):
                pass


def hear_facts(
    recording: Recording, listeners: Sequence[Listener], problem: Problem, on_end: End | None = None
) -> Iterator[Fact]:
    """The facts of one recording, which the listeners hear as they are read; see `facts_of`."""
    take, end = _ears(recording, listeners) if recording.kind == "log" else (None, _deaf)
    captured = recording.kind in ("wire", "pcap")
    hearing = [each.captured for each in listeners if captured and each.hears_captures]

    def ended(summary: LogSummary) -> None:
        end(summary)
        if on_end is not None:
            on_end(summary)

    for fact in facts_of(recording, problem, take, ended):
        for hear_it in hearing:
            hear_it(fact)
        yield fact


def _ears(recording: Recording, listeners: Iterable[Listener]) -> tuple[Take | None, End]:
    """What takes each entry of a log for all who listen to it, and what tells them of its end."""
    hearing = [(each, take) for each in listeners if (take := each.log(recording)) is not None]
    takes = [take for _, take in hearing]

    def to_all(event: LogEvent) -> None:
        for take in takes:
            take(event)

    def end(summary: LogSummary) -> None:
        for each, _ in hearing:
            each.ended(recording, summary)

    return (None if not takes else takes[0] if len(takes) == 1 else to_all), end


def _deaf(summary: LogSummary) -> None:
    """Nobody listens."""
