"""What the logs of a store's broker say of its topics: when each was created and deleted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pipelines.recordings.kinds import log_stem
from pipelines.recordings.lines import Problem, lines_of
from pipelines.recordings.recordings import Recording, find_recordings
from recovery.knowledge.topic_events import TopicEvent

if TYPE_CHECKING:
    from rebalance.readers.logs.reader import LogEvent

KINDS: dict[str, Literal["created", "deleted"]] = {
    "topic_created": "created",
    "topic_created_by_default": "created",
    "topic_deleted": "deleted",
}
"""Templates of the lines that tell it."""


def topic_logs(given: Iterable[Path], problem: Problem) -> dict[str, tuple[Recording, ...]]:
    """The logs of brokers among files and folders, by the broker's name. Raises FileNotFoundError."""
    found: dict[str, tuple[Recording, ...]] = {}
    for recording in find_recordings(given, problem=problem):
        if recording.kind == "log" and log_stem(recording.paths[0]) == "broker":
            found[recording.source] = (*found.get(recording.source, ()), recording)
    return found


def topic_events(logs: Iterable[Recording], problem: Problem) -> Iterator[TopicEvent]:
    """Every creation and deletion of a topic that the logs tell, in the order of their lines."""
    from rebalance.readers.logs.reader import LogReader

    for log in logs:
        for event in LogReader().events(line for path in log.paths for line in lines_of(path, problem)):
            if event.template.name in KINDS:
                yield from _topic_event(event)


def _topic_event(event: LogEvent) -> Iterator[TopicEvent]:
    from rebalance.readers.logs.texts import topic_config

    told = topic_config(event.named_fields["topic_config"])
    if told is not None:
        yield TopicEvent(told[0], KINDS[event.template.name], event.at_ms - event.early_ms, event.at_ms + event.late_ms)


def events_of_broker(logs: Path, broker: str, problem: Problem) -> tuple[TopicEvent, ...]:
    """What a folder with the logs of one broker says of its topics.

    Where it has logs of several, those that are of the broker by their own words; none where no log is.
    Raises FileNotFoundError.
    """
    found = topic_logs([logs], problem)
    own = next(iter(found.values())) if len(found) == 1 else found.get(broker, ())
    return tuple(topic_events(own, problem))
