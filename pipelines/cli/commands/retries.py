"""`rocketlens retries`: messages that groups gave back, over their retries to consumption or dead letter."""

from __future__ import annotations

from typing import Annotated

import typer

from pipelines.cli.commands.lag import offsets_at
from pipelines.cli.frame.command import command
from pipelines.cli.frame.opening import NOTHING_SAID, known_store_at
from pipelines.cli.frame.options import (
    STORE_FILES,
    BrokerOptions,
    KeptOffsetsOption,
    StoreArgument,
    TopicOption,
)
from pipelines.cli.frame.rows import schema_of
from pipelines.cli.frame.run import Run

BRIEF = ("group", "topics", "messages", "dead_letters", "waiting", "unread", "consumed", "most_failures", "repeated")
MESSAGES_BRIEF = ("group", "topic", "queue_id", "queue_offset", "state", "failures", "last_failed_at", "reason")


def register(app: typer.Typer) -> None:
    """Add the command."""
    command(app, "retries", panel=STORE_FILES)(retries)


def retries(
    run: Run,
    store: StoreArgument,
    group: Annotated[str | None, typer.Option(metavar="G", help="Only this consumer group.")] = None,
    topic: TopicOption = None,
    messages: Annotated[bool, typer.Option("--messages", help="A row for each message.")] = False,
    dead: Annotated[bool, typer.Option("--dead", help="Only dead letters.")] = False,
    offsets: KeptOffsetsOption = None,
    broker: BrokerOptions = NOTHING_SAID,
) -> None:
    """Messages that groups gave back: where they come from, how often they failed, and where they are now.

    A row for each group, or with --messages for each message: the topic, queue and offset it was sent to, first and
    last failure, and its state: dead_letter; waiting for its next retry; unread, in the retry topic; consumed, the
    group's offset there is past it and it was not given back again. A failure's time is when the broker stored the
    copy. `repeated` counts copies that the log has twice. Reads the whole log, twice where a message was given back.

    Example: `rocketlens retries /data/store --group CG_orders --messages --dead --format table`
    """
    from pipelines.answers.fates.retries import RetryAnswer, retry_sums
    from pipelines.answers.offsets.saved import offsets_of_store
    from pipelines.lake.tables.derived import RETRY_CHAINS

    opened, known = known_store_at(run, store, broker)
    kept = offsets_of_store(opened, run.damage) if offsets is None else offsets_at(run, opened, offsets, None)
    if kept is None:
        run.note(f"{opened.root}: no consumerOffset.json, so what is consumed is unknown; name a copy with --offsets")
    answer = RetryAnswer.of(opened, known, None if kept is None else kept.offsets)
    batches = answer.batches(group=group, topic=topic, dead=dead)
    if messages:
        schema = schema_of(RETRY_CHAINS, without=["broker"])
        run.emit(schema, (batch.select(schema.names) for batch in batches), brief=MESSAGES_BRIEF)
        return
    sums = retry_sums(batches).drop_columns(["broker"])
    run.emit(sums.schema, sums.to_batches(), brief=BRIEF)
