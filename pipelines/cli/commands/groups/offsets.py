"""`rocketlens offsets`: what moved a group's offset, from where to where, when, and by whom."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pipelines.cli.frame.asked.options import (
    STORE_FILES,
    BrokerOptions,
    GroupOptions,
    QueueOption,
    RecordingsOption,
    kept_option,
)
from pipelines.cli.frame.call.beside.movements import movements
from pipelines.cli.frame.call.command import command
from pipelines.cli.frame.call.opening import known_store_at, note_static_topics
from pipelines.cli.frame.call.rows import emit_rows_of
from pipelines.cli.frame.call.run import Run

BRIEF = (
    "group",
    "topic",
    "queue_id",
    "kind",
    "from_queue_offset",
    "to_queue_offset",
    "skipped",
    "repeated",
    "earliest",
    "latest",
    "by",
    "cause",
    "certain",
)


@command("offsets", panel=STORE_FILES)
def offsets(
    run: Run,
    store: Annotated[
        Path, typer.Argument(readable=False, metavar="STORE", help="Store root of the broker whose offsets they are.")
    ],
    wanted: GroupOptions,
    *,
    queue: QueueOption = None,
    logs: RecordingsOption = None,
    offsets: Annotated[
        Path | None, kept_option("Kept copies of consumerOffset.json, beside the store's own and its .bak.")
    ] = None,
    broker: BrokerOptions,
) -> None:
    """What moved a group's offset: from where to where, in which window of time, by whom and why.

    From broker logs, client logs and captures (--logs), saved tables (--offsets), OFFSET_MOVED_EVENT messages, and the
    queues. `kind`: reset, reset_refused, corrected (PULL_OFFSET_MOVED), moved_back, moved_forward, first_offset,
    removed, commits_rejected, started_above_commit, stalled, and next_pull: what this version will make of an offset
    that it does not take as it is. `skipped` and `repeated` count messages, and are empty where not known; `certain`
    is false where something else could explain the sources, and `reason` says what.

    Example: `rocketlens offsets /data/store --group CG_orders --logs /data/logs --offsets /data/kept-offsets`
    """
    from pipelines.answers.offsets.events import event_rows
    from pipelines.lake.tables.lag import OFFSET_EVENTS

    opened, known = known_store_at(run, store, broker, names_version=True)
    note_static_topics(run, opened)
    _, found = movements(run, opened, known, logs, offsets)
    rows = (
        row
        for row in event_rows(found)
        if wanted.wants(row["group"], row["topic"]) and queue in (None, row["queue_id"])
    )
    emit_rows_of(run, OFFSET_EVENTS, rows, BRIEF)
