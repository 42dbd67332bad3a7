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
    from recovery.lives.story import LifeEvent


def with_logs(run: Run, known: StoreKnowledge, logs: Sequence[Path] | None) -> StoreKnowledge:
    """What is known of a store's broker, with what its logs say of topics.

    Raises:
        OSError: a path that is not there.
    """
    from pipelines.recordings.topic_log import topic_events

    if not logs:
        return known
    return replace(known, topic_events=tuple(topic_events(lines_told(run, logs, known.broker_name))))


def lines_told(
    run: Run, logs: Sequence[Path] | None, own: str | None, *, names_lack: bool = True, beside: Sequence[Listener] = ()
) -> tuple[LifeEvent, ...]:
    """What the logs of a store's broker say of its topics and groups.

    Logs of several brokers are left out where none of them is `own`, the name that the store has for its broker, and a
    note says so. With `names_lack` a note says so, too, where no log of a broker is there. `beside` hear the same logs,
    and captures.

    Raises:
        OSError: a path that is not there.
    """
    from pipelines.recordings.topic_log import LifeLines

    if not logs:
        return ()
    lives = LifeLines()
    listen(run, logs, [lives, *beside])
    return lines_heard(run, lives, own, names_lack=names_lack)


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


def lines_heard(run: Run, lives: LifeLines, own: str | None, *, names_lack: bool = True) -> tuple[LifeEvent, ...]:
    """What logs said that were read already; see `lines_told`."""
    found = sorted(lives.by_broker)
    told = f"logs of several brokers ({', '.join(found)})" if found else "no broker.log there"
    if not lives.has_broker(own) and (found or names_lack):
        run.note(f"--logs: {told}; what happened to topics and groups is not taken from them")
    return lives.of_broker(own)
