"""`rocketlens traces`: what clients with message trace on wrote about their messages."""

from __future__ import annotations

from typing import Annotated

import typer

from pipelines.cli.frame.asked.options import STORE_FILES, BrokerOptions, StoreArgument
from pipelines.cli.frame.call.command import command
from pipelines.cli.frame.call.opening import NOTHING_SAID, known_store_at
from pipelines.cli.frame.call.rows import emit_batches_of, emit_sums
from pipelines.cli.frame.call.run import Run

BRIEF = ("group", "trace_type", "records", "failed", "without_end", "again", "mean_cost_ms", "most_cost_ms", "last_at")
COUNTERS = ("problems",)
"""Shown where one is not 0."""
MESSAGES_BRIEF = ("at", "trace_type", "group", "message_id", "born_host", "cost_ms", "success", "result", "problem")


@command("traces", panel=STORE_FILES)
def traces(
    run: Run,
    store: StoreArgument,
    messages: Annotated[bool, typer.Option("--messages", help="A row for each trace record.")] = False,
    message_id: Annotated[
        str | None, typer.Option(metavar="M", help="Only records of this message, by unique id or message id.")
    ] = None,
    trace_topic: Annotated[
        list[str] | None, typer.Option(metavar="T", help="A topic that carries traces too; may be repeated.")
    ] = None,
    broker: BrokerOptions = NOTHING_SAID,
) -> None:
    """Message trace: what producers and consumers wrote about each send and each call of a listener.

    Read are RMQ_SYS_TRACE_TOPIC, rmq_sys_TRACE_DATA_…, the topics of --trace-topic, and every topic whose first message
    is a trace. A row for each group and kind of record, or with --messages for each record. `failed` of Pub counts
    sends that were stored, but not confirmed as flushed or copied; a send that failed is not traced. `without_end`
    counts calls of a listener of which no record here tells the end: the client died in it, it still runs, or its
    record was lost, or another broker has it. Clients drop traces when they are busy, so what is not traced may have
    happened. Reads the whole log.

    Example: `rocketlens traces /data/store --messages --message-id 7F0000015CE55FFD2B276DE450E80001`
    """
    from pipelines.answers.traces import of_message, trace_batches, trace_sums
    from pipelines.lake.tables.fates import TRACE_EVENTS

    opened, _ = known_store_at(run, store, broker)
    batches = trace_batches(opened, run.damage, named=trace_topic or ())
    if message_id is not None:
        batches = of_message(batches, message_id)
    if messages:
        emit_batches_of(run, TRACE_EVENTS, batches, MESSAGES_BRIEF)
    else:
        emit_sums(run, trace_sums(batches, opened.root), BRIEF, COUNTERS)
    if message_id is not None and not run.rows and run.options.limit != 0:
        run.note(f"no trace record names a message {message_id!r}; `who` tells whether the log has it")
