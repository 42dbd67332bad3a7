"""What a broker's log says once a minute of its dispatch: how many bytes of the log are not in their queues yet.

Source: BrokerController#initialize @4.2.0, 4.9.7, #initializeBrokerScheduledTasks @5.3.3.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from pipelines.recordings.kinds import log_stem
from pipelines.recordings.lines import Problem, lines_of
from pipelines.recordings.recordings import find_recordings

MOST_DIGITS = 18


def dispatch_behind(given: Iterable[Path], problem: Problem) -> Iterator[tuple[int, int]]:
    """(epoch ms, bytes) of each line, in the order of the logs. Raises FileNotFoundError."""
    from rebalance.readers.logs.reader import LogReader

    for recording in find_recordings(given, problem=problem):
        if recording.kind == "log" and log_stem(recording.paths[0]) == "broker":
            lines = (line for path in recording.paths for line in lines_of(path, problem))
            for event in LogReader().events(lines):
                if event.template.name == "dispatch_behind":
                    count = event.named_fields["count"]
                    if count.isdigit() and len(count) <= MOST_DIGITS:
                        yield event.at_ms, int(count)
