"""`rocketlens pop`: what groups popped: acknowledged, in flight, delivered again, and what waits to be revived."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from pipelines.cli.commands.lag import offsets_at
from pipelines.cli.frame.command import command
from pipelines.cli.frame.opening import NOTHING_SAID, known_store_at
from pipelines.cli.frame.options import (
    STORE_FILES,
    BrokerOptions,
    InstantOption,
    KeptOffsetsOption,
    StoreArgument,
    TopicOption,
    instant_of,
)
from pipelines.cli.frame.rows import schema_of
from pipelines.cli.frame.run import Run

BRIEF = ("group", "topic", "queue_id", "pop_lag", "unread", "in_flight", "overdue", "acked", "revived", "popped")
MESSAGES_BRIEF = ("group", "topic", "queue_id", "queue_offset", "state", "popped_at", "invisible_until", "reason")


def register(app: typer.Typer) -> None:
    """Add the command."""
    command(app, "pop", panel=STORE_FILES)(pop)


def pop(
    run: Run,
    store: StoreArgument,
    group: Annotated[str | None, typer.Option(metavar="G", help="Only this consumer group.")] = None,
    topic: TopicOption = None,
    messages: Annotated[bool, typer.Option("--messages", help="A row for each message.")] = False,
    open_: Annotated[
        bool, typer.Option("--open", help="Only what is not acknowledged and not delivered again.")
    ] = False,
    revive: Annotated[bool, typer.Option("--revive", help="A row for each queue of the revive topic instead.")] = False,
    now: InstantOption = None,
    offsets: KeptOffsetsOption = None,
    broker: BrokerOptions = NOTHING_SAID,
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
    from pipelines.answers.lag import lag_record, store_lag
    from pipelines.answers.offsets.saved import offsets_of_store
    from pipelines.lake.tables.derived import POPPED_MESSAGES

    now_ms = int(time.time() * 1000) if now is None else instant_of(now, "--now")
    opened, known = known_store_at(run, store, broker)
    kept = offsets_of_store(opened, run.damage) if offsets is None else offsets_at(run, opened, offsets, None)
    if kept is None:
        run.note(f"{opened.root}: no consumerOffset.json, so what is revived is unknown; name a copy with --offsets")
    answer = PopAnswer.of(opened, known, None if kept is None else kept.offsets, run.damage)
    for note in answer.notes():
        run.note(note)
    if revive:
        rows = answer.revive_rows()
        run.emit(rows.schema, rows.to_batches())
        return
    batches = answer.batches(group=group, topic=topic, open_=open_)
    if messages:
        schema = schema_of(POPPED_MESSAGES, without=["broker"])
        run.emit(schema, (batch.select(schema.names) for batch in batches), brief=MESSAGES_BRIEF)
        return
    lags = [] if kept is None else store_lag(opened, kept, damage=run.damage)
    wanted = (lag_record(each) for each in lags if group in (None, each.group) and topic in (None, each.topic))
    sums = pop_sums(batches, wanted, now_ms).drop_columns(["broker"])
    run.emit(sums.schema, sums.to_batches(), brief=BRIEF)
