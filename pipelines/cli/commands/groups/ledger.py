"""`rocketlens ledger`: what became of every queue offset, for the store and for each group."""

from __future__ import annotations

from typing import Annotated

import typer

from pipelines.cli.frame.asked.options import (
    STORE_FILES,
    BrokerOptions,
    GroupOptions,
    QueueOption,
    RecordedOptions,
    StoreArgument,
)
from pipelines.cli.frame.call.beside.kept_offsets import offsets_if_any
from pipelines.cli.frame.call.beside.movements import movements
from pipelines.cli.frame.call.command import command
from pipelines.cli.frame.call.opening import known_store_at, note_pops, note_static_topics
from pipelines.cli.frame.call.rows import emit_rows_of
from pipelines.cli.frame.call.run import Run

BRIEF = (
    "group",
    "topic",
    "queue_id",
    "life",
    "state",
    "first_queue_offset",
    "end_queue_offset",
    "messages",
    "certain",
    "reason",
)


@command("ledger", panel=STORE_FILES)
def ledger(
    run: Run,
    store: StoreArgument,
    wanted: GroupOptions,
    *,
    queue: QueueOption = None,
    lost: Annotated[bool, typer.Option("--lost", help="Only what a group does not get.")] = False,
    kept: RecordedOptions,
    broker: BrokerOptions,
) -> None:
    """What became of every queue offset: each one in exactly one state, so that the states add up to the maximum.

    Rows without a group tell what the store has: stored, expired, truncated, never_dispatched, not_dispatched_yet,
    former_life, damaged, unknown. Rows of a group, by its stored offset: consumed, waiting, expired_unread, skipped
    (a movement took the offset over it: see `offsets`, which tells more with --logs and --offsets), and the others
    where they hold. `certain` is false where the files leave it open, and `reason` says why. Reads the whole log.

    Example: `rocketlens ledger /data/store --group CG_orders --lost`
    """
    from pipelines.answers.derived.ledger_rows import ledger_rows
    from pipelines.lake.tables.judgements import LOSS_LEDGER
    from recovery.query.ledger import LOST
    from recovery.verify.ledger_in_motion import ledger_in_motion

    opened, known = known_store_at(run, store, broker)
    note_pops(run, opened)
    note_static_topics(run, opened)
    told, moved = movements(run, opened, known, kept.logs, kept.offsets)
    found = ledger_in_motion(opened, told)
    stored = offsets_if_any(run, opened, kept.offsets, "no group has rows")
    rows = (
        row
        for row in ledger_rows(opened, found, stored, moved)
        if wanted.wants(row["group"], row["topic"])
        and queue in (None, row["queue_id"])
        and (not lost or row["state"] in LOST)
    )
    emit_rows_of(run, LOSS_LEDGER, rows, BRIEF)
