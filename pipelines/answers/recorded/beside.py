"""Logs that tell nothing about who owned a queue, and whose texts are known: of files, transactions, counts.

They are rows of `log_events`, and no recordings of a replay.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.recordings.counted import COUNTING_STEMS
from pipelines.recordings.kinds import first_stamp, logs_among, name_stem
from pipelines.recordings.lines import Problem, lines_of
from pipelines.recordings.recordings import Recording, broker_of_home, log_home
from pipelines.recordings.store_log import BESIDE_STEMS, STEMS

if TYPE_CHECKING:
    from rebalance.readers.logs.lines.reader import LogEvent

TOLD_STEMS = frozenset(STEMS | BESIDE_STEMS | COUNTING_STEMS)


def logs_beside(given: Iterable[Path]) -> list[Recording]:
    """These logs among files and folders, the parts of one log as one in order of time; each is of the broker whose
    folder it lies in.

    Raises:
        FileNotFoundError: a path that is not there.
    """
    parts: dict[tuple[Path, str], list[Path]] = {}
    for path in logs_among(given, TOLD_STEMS):
        parts.setdefault((log_home(path), name_stem(path) or ""), []).append(path)
    return [
        Recording(
            "beside",
            tuple(sorted(paths, key=lambda part: (first_stamp(part), part.name))),
            broker_of_home(home),
            stem,
            stem=stem,
        )
        for (home, stem), paths in parts.items()
    ]


def events_beside(recording: Recording, problem: Problem) -> Iterator[LogEvent]:
    """The recognised entries of one of `logs_beside`; what cannot be read of it goes to `problem` as a sentence."""
    from rebalance.readers.logs.lines.reader import LogReader

    yield from LogReader().events(line for path in recording.paths for line in lines_of(path, problem))
