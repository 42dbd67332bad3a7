"""Movements of groups' offsets, of the commands that tell them or what they passed over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.cli.frame.call.beside.kept_offsets import kept_copies
from pipelines.cli.frame.call.beside.topic_logs import lines_told
from pipelines.cli.frame.call.run import Run

if TYPE_CHECKING:
    from parsers.store.store import Store
    from pipelines.answers.offsets.event import OffsetEvent
    from recovery.knowledge.inference import StoreKnowledge


def movements(
    run: Run, store: Store, known: StoreKnowledge, logs: Sequence[Path] | None, offsets: Path | None
) -> tuple[StoreKnowledge, list[OffsetEvent]]:
    """What is known of a store with what its logs say of topics, and every movement that store, logs, captures and kept
    copies of its offsets tell.

    Raises:
        OSError: a path that is not there.
    """
    from pipelines.answers.offsets.events import events_of
    from pipelines.answers.offsets.heard_lines import OffsetLines
    from pipelines.recordings.topic_log import topic_events

    heard, own = OffsetLines(), known.broker_name
    lines = lines_told(run, logs, own, names_lack=False, beside=[heard])
    if (why := heard.why_none(own)) is not None:
        run.note(f"--logs: {why}: no movement is taken from them")
    told = replace(known, topic_events=tuple(topic_events(lines)))
    kept = [] if offsets is None else kept_copies(run, offsets)
    return told, events_of(store, told, heard.record(own), kept, damage=run.damage)
