"""`rocketlens retries`: messages that groups gave back, over their retries to consumption or dead letter."""

from __future__ import annotations

from typing import Annotated

import typer

from pipelines.cli.frame.asked.options import (
    STORE_FILES,
    BrokerOptions,
    GroupOptions,
    KeptOffsetsOption,
    MessagesOption,
    StoreArgument,
)
from pipelines.cli.frame.call.beside.kept_offsets import offsets_if_any
from pipelines.cli.frame.call.command import command
from pipelines.cli.frame.call.opening import known_store_at
from pipelines.cli.frame.call.rows import emit_batches_of, emit_sums
from pipelines.cli.frame.call.run import Run

BRIEF = (
    "group",
    "topics",
    "messages",
    "dead_letters",
    "waiting",
    "unread",
    "in_flight",
    "consumed",
    "most_failures",
    "repeated",
)
COUNTERS = ("unknown",)
"""Shown where one is not 0."""
MESSAGES_BRIEF = ("group", "topic", "queue_id", "queue_offset", "state", "failures", "last_failed_at", "reason")


@command("retries", panel=STORE_FILES)
def retries(
    run: Run,
    store: StoreArgument,
    wanted: GroupOptions,
    *,
    messages: MessagesOption = False,
    dead: Annotated[bool, typer.Option("--dead", help="Only dead letters.")] = False,
    offsets: KeptOffsetsOption = None,
    broker: BrokerOptions,
) -> None:
    """Messages that groups gave back: where they come from, how often they failed, and where they are now.

    A row for each group, or with --messages for each message: the topic, queue and offset it was sent to, first and
    last failure, and its state: dead_letter; waiting for its next retry; unread, in the retry topic; consumed, the
    group's offset there is past it and it was not given back again; in_flight, popped and not acknowledged. Of a retry
    that is popped its acknowledgement tells that it is consumed. A failure's time is when the broker stored the
    copy. `repeated` counts copies that the log has twice. Reads the whole log, twice where a message was given back.

    Example: `rocketlens retries /data/store --group CG_orders --messages --dead --format table`
    """
    from pipelines.answers.fates.retries import RetryAnswer, retry_sums
    from pipelines.lake.tables.fates import RETRY_CHAINS

    opened, known = known_store_at(run, store, broker)
    kept = offsets_if_any(run, opened, offsets, "what is consumed is unknown")
    stored = None if kept is None else kept.offsets
    answer = RetryAnswer.of(opened, known, stored).with_pops(known, stored, run.damage)
    batches = answer.batches(group=wanted.group, topic=wanted.topic, dead=dead)
    if messages:
        emit_batches_of(run, RETRY_CHAINS, batches, MESSAGES_BRIEF)
    else:
        emit_sums(run, retry_sums(batches), BRIEF, COUNTERS)
