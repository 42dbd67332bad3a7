"""`--logs` of the commands that tell the lives of topics apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.cli.frame.call.run import Run

if TYPE_CHECKING:
    from pipelines.recordings.recordings import Recording
    from recovery.knowledge.inference import StoreKnowledge
    from recovery.knowledge.topic_events import TopicEvent
    from recovery.lives.story import LifeEvent


def with_logs(run: Run, known: StoreKnowledge, logs: Sequence[Path] | None) -> StoreKnowledge:
    """What is known of a store's broker, with what its logs say of topics.

    Raises:
        OSError: a path that is not there.
    """
    return replace(known, topic_events=events_of(run, logs)) if logs else known


def events_of(run: Run, logs: Sequence[Path] | None) -> tuple[TopicEvent, ...]:
    """What the logs of a store's broker say of its topics. Raises OSError: a path that is not there."""
    from pipelines.recordings.topic_log import topic_events

    return tuple(topic_events(lines_told(run, logs)))


def lines_told(run: Run, logs: Sequence[Path] | None, *, names_lack: bool = True) -> tuple[LifeEvent, ...]:
    """What the logs of a store's broker say of its topics and groups.

    A store does not tell its broker's name: logs of several brokers are left out, and a note says so. With `names_lack`
    a note says so, too, where no log of a broker is there.

    Raises:
        OSError: a path that is not there.
    """
    from pipelines.recordings.topic_log import life_lines

    return life_lines(logs_of_broker(run, logs, names_lack=names_lack), run.not_read)


def logs_of_broker(run: Run, logs: Sequence[Path] | None, *, names_lack: bool = True) -> tuple[Recording, ...]:
    """The logs of a store's broker among files and folders; none, and a note, where they are of several brokers."""
    from pipelines.recordings.topic_log import topic_logs

    if not logs:
        return ()
    for place in logs:
        run.reads(place)
    found = topic_logs(logs, run.not_read)
    if len(found) == 1:
        return next(iter(found.values()))
    told = f"logs of several brokers ({', '.join(sorted(found))})" if found else "no broker.log there"
    if found or names_lack:
        run.note(f"--logs: {told}; what happened to topics and groups is not taken from them")
    return ()
