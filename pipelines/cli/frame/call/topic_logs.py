"""`--logs` of the commands that tell the lives of topics apart, or more of what a store's broker logged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.cli.frame.call.run import Run

if TYPE_CHECKING:
    from pipelines.recordings.listening import Listener
    from pipelines.recordings.topic_log import LifeLines
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


def lines_told(
    run: Run, logs: Sequence[Path] | None, *, names_lack: bool = True, beside: Sequence[Listener] = ()
) -> tuple[LifeEvent, ...]:
    """What the logs of a store's broker say of its topics and groups.

    A store does not tell its broker's name: logs of several brokers are left out, and a note says so. With `names_lack`
    a note says so, too, where no log of a broker is there. `beside` hear the same logs, and captures.

    Raises:
        OSError: a path that is not there.
    """
    from pipelines.recordings.topic_log import LifeLines

    if not logs:
        return ()
    lives = LifeLines()
    listen(run, logs, [lives, *beside])
    return lines_heard(run, lives, names_lack=names_lack)


def listen(run: Run, logs: Sequence[Path], listeners: Sequence[Listener]) -> None:
    """Read logs and captures once, for all who listen. Raises OSError: a path that is not there."""
    from pipelines.recordings.listening import hear
    from pipelines.recordings.recordings import find_recordings

    for place in logs:
        run.reads(place)
    hear(find_recordings(logs, problem=run.not_read), listeners, run.not_read)
    for each in listeners:
        for sentence in each.problems():
            run.not_read(sentence)


def lines_heard(run: Run, lives: LifeLines, *, names_lack: bool = True) -> tuple[LifeEvent, ...]:
    """What logs said that were read already; see `lines_told`."""
    found = sorted(lives.by_broker)
    told = f"logs of several brokers ({', '.join(found)})" if found else "no broker.log there"
    if len(found) > 1 or (names_lack and not found):
        run.note(f"--logs: {told}; what happened to topics and groups is not taken from them")
    return lives.of_broker()
