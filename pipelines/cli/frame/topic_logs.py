"""`--logs` of the commands that tell the lives of topics apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.cli.frame.run import Run

if TYPE_CHECKING:
    from recovery.knowledge.inference import StoreKnowledge
    from recovery.knowledge.topic_events import TopicEvent


def with_logs(run: Run, known: StoreKnowledge, logs: Sequence[Path] | None) -> StoreKnowledge:
    """What is known of a store's broker, with what its logs say of topics.

    Raises:
        OSError: a path that is not there.
    """
    return replace(known, topic_events=events_of(run, logs)) if logs else known


def events_of(run: Run, logs: Sequence[Path] | None) -> tuple[TopicEvent, ...]:
    """What the logs of a store's broker say of its topics.

    A store does not tell its broker's name: logs of several brokers are left out, and a note says so.

    Raises:
        OSError: a path that is not there.
    """
    from pipelines.recordings.topic_log import topic_events, topic_logs

    if not logs:
        return ()
    for place in logs:
        run.reads(place)
    found = topic_logs(logs, run.not_read)
    if len(found) != 1:
        told = f"logs of several brokers ({', '.join(sorted(found))})" if found else "no broker.log there"
        run.note(f"--logs: {told}; when topics were created and deleted is not taken from them")
        return ()
    (of_broker,) = found.values()
    return tuple(topic_events(of_broker, run.not_read))
