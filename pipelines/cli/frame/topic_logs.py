"""`--logs` of the commands that tell the lives of topics apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.cli.frame.run import Run

if TYPE_CHECKING:
    from recovery.knowledge.inference import StoreKnowledge


def with_logs(run: Run, known: StoreKnowledge, logs: Sequence[Path] | None) -> StoreKnowledge:
    """What is known of a store's broker, with what its logs say of topics.

    A store does not tell its broker's name: logs of several brokers are left out, and a note says so.

    Raises:
        OSError: a path that is not there.
    """
    from pipelines.recordings.topic_log import topic_events, topic_logs

    if not logs:
        return known
    for place in logs:
        run.reads(place)
    found = topic_logs(logs, run.not_read)
    if len(found) != 1:
        told = f"logs of several brokers ({', '.join(sorted(found))})" if found else "no broker.log there"
        run.note(f"--logs: {told}; when topics were created and deleted is not taken from them")
        return known
    (of_broker,) = found.values()
    return replace(known, topic_events=tuple(topic_events(of_broker, run.not_read)))
