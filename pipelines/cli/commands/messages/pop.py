"""`rocketlens pop`: what groups popped: acknowledged, in flight, delivered again, and what waits to be revived."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Annotated

import typer

from pipelines.cli.frame.asked.options import (
    STORE_FILES,
    BrokerOptions,
    GroupOptions,
    KeptOffsetsOption,
    MessagesOption,
    NowOption,
    StoreArgument,
    instant_of,
)
from pipelines.cli.frame.call.beside.kept_offsets import offsets_if_any
from pipelines.cli.frame.call.command import command
from pipelines.cli.frame.call.opening import known_store_at
from pipelines.cli.frame.call.rows import emit_batches_of, emit_sums
from pipelines.cli.frame.call.run import Run
from pipelines.cli.frame.errors import WrongUsage

BRIEF = ("group", "topic", "queue_id", "pop_lag", "unread", "in_flight", "overdue", "acked", "revived", "popped")
COUNTERS = ("passed", "unmatched", "unknown")
"""Shown where one is not 0."""
MESSAGES_BRIEF = ("group", "topic", "queue_id", "queue_offset", "state", "popped_at", "invisible_until", "reason")


@dataclass(frozen=True, slots=True)
class PopOptions:
    """What there is a row for."""

    messages: MessagesOption = False
    open_: Annotated[bool, typer.Option("--open", help="Only what is not acknowledged and not delivered again.")] = (
        False
    )
    revive: Annotated[bool, typer.Option("--revive", help="A row for each queue of the revive topic instead.")] = False


@command("pop", panel=STORE_FILES)
def pop(
    run: Run,
    store: StoreArgument,
    wanted: GroupOptions,
    shown: PopOptions,
    *,
    now: NowOption = None,
    offsets: KeptOffsetsOption = None,
    broker: BrokerOptions,
) -> None:
    """POP: what groups popped and acknowledged, what is in flight until when, and what was delivered again.

    A row for each group and queue, or with --messages for each message that a checkpoint in the revive topic names.
    `pop_lag`: unread and in flight. `overdue`, as of --now: its invisible time has passed, and the revive service has
    not come to it yet. revived: put into the retry topic, whose queue has a row of its own. With --revive: how far the
    revive service is, and what waits for it. What was acknowledged in the broker's memory alone (enablePopBufferMerge)
    has no row. Reads the whole log, twice where a message was popped.

    Example: `rocketlens pop /data/store --group CG_orders --messages --open --format table`
    """
    from pipelines.answers.fates.pops import PopAnswer, pop_sums
    from pipelines.answers.lag.lag import lag_record, store_lag
    from pipelines.lake.tables.fates import POPPED_MESSAGES

    if shown.revive and (wanted.group or wanted.topic or shown.messages or shown.open_):
        raise WrongUsage(
            "pop: --revive has a row for each queue of the revive topic, of all groups and topics together; --group, "
            "--topic, --messages and --open do not go with it"
        )
    if now is not None and (shown.revive or shown.messages):
        raise WrongUsage("pop: --now counts for `overdue`, which --messages and --revive do not have; leave it out")
    now_ms = int(time.time() * 1000) if now is None else instant_of(now, "--now")
    opened, known = known_store_at(run, store, broker)
    kept = offsets_if_any(run, opened, offsets, "what is revived is unknown")
    answer = PopAnswer.of(opened, known, None if kept is None else kept.offsets, run.damage)
    for note in answer.notes(known):
        run.note(note)
    if shown.revive:
        rows = answer.revive_rows()
        run.emit(rows.schema, rows.to_batches())
        return
    batches = answer.batches(group=wanted.group, topic=wanted.topic, open_=shown.open_)
    if shown.messages:
        emit_batches_of(run, POPPED_MESSAGES, batches, MESSAGES_BRIEF)
        return
    lags = [] if kept is None else store_lag(opened, kept, damage=run.damage)
    behind = (lag_record(each) for each in lags if wanted.wants(each.group, each.topic))
    emit_sums(run, pop_sums(batches, behind, now_ms), BRIEF, COUNTERS)
