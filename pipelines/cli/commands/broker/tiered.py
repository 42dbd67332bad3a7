"""`rocketlens tiered`: what a broker has handed to its tiered store, and whether it is the log's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pipelines.cli.frame.asked.options import BROKER, BrokerOptions, StoreArgument
from pipelines.cli.frame.call.command import command
from pipelines.cli.frame.call.opening import NOTHING_SAID, known_store_at
from pipelines.cli.frame.call.run import Run
from pipelines.cli.frame.errors import Unreadable

if TYPE_CHECKING:
    from recovery.tiered.queues import TieredQueueState

BRIEF = ("topic", "queue_id", "handed_to", "waiting", "equal", "different", "wrong", "not_in_log", "reason")


@command("tiered", panel=BROKER)
def tiered(
    run: Run,
    store: StoreArgument,
    segments: Annotated[
        Path | None,
        typer.Option(
            "--segments",
            metavar="FOLDER",
            help="The segments of PosixFileSegment, each held against the log; else where tieredStoreFilePath says.",
        ),
    ] = None,
    broker: BrokerOptions = NOTHING_SAID,
) -> None:
    """What a broker has handed to its tiered store (since 5.3.0), one row per queue.

    config/tieredStoreMetadata.json tells how far each queue was handed over; `waiting` are messages that were not yet.
    With --segments, or in the folder that tieredStoreFilePath of the broker names, each unit is followed to its
    message, and that to the log: `equal`, `different`, `wrong` (units that lead to no message of their queue),
    `not_in_log` (from before the first message that the broker's queue still has). What a cloud provider holds is not
    here to be read: these columns are null then, and `reason` says so.
    Exit code 1 where something is different or wrong.

    Example: `rocketlens tiered /data/store --segments /data/tiered --format table`
    """
    from parsers.tiered.metadata import read_tiered_metadata
    from pipelines.lake.tables.judgements import TIERED_QUEUES
    from recovery.rules.store_paths import tiered_folder
    from recovery.tiered.queues import tiered_queues

    opened, known = known_store_at(run, store, broker)
    segments = segments or tiered_folder(opened.root, known.settings)
    if segments is not None:
        if not segments.is_dir():
            raise Unreadable(f"--segments {segments}: no such folder")
        run.reads(segments)
    metadata = read_tiered_metadata(opened.config, damage=run.damage)
    if metadata is None:
        run.note("no config/tieredStoreMetadata.json that can be read: no tiered store, or its list is lost")
        run.emit_rows(TIERED_QUEUES.bare_schema, iter(()), brief=BRIEF)
        return
    found = tiered_queues(opened, metadata, segments, run.damage)
    run.emit_rows(TIERED_QUEUES.bare_schema, _rows(run, found), brief=BRIEF)


def _rows(run: Run, found: Iterator[TieredQueueState]) -> Iterator[dict[str, object]]:
    for state in found:
        if state.different or state.wrong:
            run.findings(1)
        yield {"broker": None, **asdict(state)}
