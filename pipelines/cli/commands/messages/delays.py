"""`rocketlens delays`: delayed and timer messages: what is pending, overdue, delivered and how late."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from typing import Annotated

import typer

from parsers.values.java import INT_MAX
from pipelines.cli.frame.asked.options import (
    STORE_FILES,
    BrokerOptions,
    MessagesOption,
    NowOption,
    StoreArgument,
    TopicOption,
    instant_of,
)
from pipelines.cli.frame.call.command import command
from pipelines.cli.frame.call.opening import NOTHING_SAID, known_store_at
from pipelines.cli.frame.call.rows import emit_batches_of, emit_sums
from pipelines.cli.frame.call.run import Run

BRIEF = ("kind", "level", "topic", "delivered", "pending", "overdue", "next_due", "late_p99_ms", "late_max_ms")
COUNTERS = ("passed", "unknown", "delivered_twice", "expires_first", "rolled", "deleted")
"""Shown where one is not 0."""
MESSAGES_BRIEF = ("level", "topic", "unique_id", "due_at", "state", "late_ms", "reason")


@dataclass(frozen=True, slots=True)
class DelayOptions:
    """Which delayed messages are wanted."""

    topic: TopicOption = None
    level: Annotated[
        int | None, typer.Option(metavar="N", min=0, max=INT_MAX, help="Only this delay level; 0: timer messages.")
    ] = None


@command("delays", panel=STORE_FILES)
def delays(
    run: Run,
    store: StoreArgument,
    wanted: DelayOptions,
    *,
    messages: MessagesOption = False,
    pending: Annotated[bool, typer.Option("--pending", help="Only what is not delivered yet.")] = False,
    now: NowOption = None,
    broker: BrokerOptions = NOTHING_SAID,
) -> None:
    """Delayed and timer messages: what is pending and overdue, what was delivered and how late.

    A row for each delay level and topic, or with --messages for each message: due when, delivered when and where. Late
    is the store time of the delivery minus the due time. `overdue` is as of --now, without it now. `passed`: the
    broker is past it, and the log has no delivery. `expires_first`: the cleaner deletes the message's log file before
    it is due. Retries wait as delayed messages too; their topic is %RETRY% and the group. Reads the whole log.

    Example: `rocketlens delays /data/store --messages --pending --format table`
    """
    from pipelines.answers.fates.delays import DelayAnswer, delay_sums
    from pipelines.lake.tables.fates import DELAYED_MESSAGES

    now_ms = int(time.time() * 1000) if now is None else instant_of(now, "--now")
    answer = DelayAnswer.of(*known_store_at(run, store, broker), run.damage, now_ms)
    for note in answer.notes():
        run.note(note)
    levels = answer.levels()
    if wanted.level is not None and wanted.level not in levels:
        told = ", ".join(map(str, levels)) or "no level at all"
        run.note(
            f"no message of the log waited at delay level {wanted.level} (0: timer); those of it waited at: {told}"
        )
    batches = answer.batches(**asdict(wanted), pending=pending)
    if messages:
        emit_batches_of(run, DELAYED_MESSAGES, batches, MESSAGES_BRIEF)
    else:
        emit_sums(run, delay_sums(batches, now_ms), BRIEF, COUNTERS)
