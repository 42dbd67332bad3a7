"""`rocketlens transactions`: half messages, their checks, and how they ended."""

from __future__ import annotations

from typing import Annotated

import typer

from pipelines.cli.frame.asked.options import STORE_FILES, BrokerOptions, StoreArgument, TopicOption
from pipelines.cli.frame.call.command import command
from pipelines.cli.frame.call.opening import NOTHING_SAID, known_store_at
from pipelines.cli.frame.call.rows import emit_batches_of, emit_sums
from pipelines.cli.frame.call.run import Run

BRIEF = ("group", "topic", "transactions", "committed", "rolled_back", "pending", "given_up", "unknown", "most_checks")
COUNTERS = ("committed_twice", "committed_and_given_up")
"""Shown where one is not 0."""
MESSAGES_BRIEF = ("topic", "unique_id", "state", "stored_at", "checks", "committed_at", "reason")


@command("transactions", panel=STORE_FILES)
def transactions(
    run: Run,
    store: StoreArgument,
    topic: TopicOption = None,
    messages: Annotated[bool, typer.Option("--messages", help="A row for each transaction.")] = False,
    open_: Annotated[bool, typer.Option("--open", help="Only those that were not decided.")] = False,
    broker: BrokerOptions = NOTHING_SAID,
) -> None:
    """Transactions: committed, rolled back, pending, given up; how often checked, and what was committed twice.

    A row for each producer group and topic, or with --messages for each transaction whose half message the log has.
    given_up: the broker checked it too often, and a copy is in TRANS_CHECK_MAX_TIME_TOPIC, unless rocksdbstore kept the
    half message. unknown: the check is past it, and the log has no decision. Reads the whole log.

    Example: `rocketlens transactions /data/store --messages --open --format table`
    """
    from pipelines.answers.fates.transactions import TransactionAnswer, transaction_sums
    from pipelines.answers.offsets.saved import offsets_of_store
    from pipelines.lake.tables.fates import TRANSACTIONS

    opened, known = known_store_at(run, store, broker)
    kept = offsets_of_store(opened, run.damage)
    answer = TransactionAnswer.of(opened, known, None if kept is None else kept.offsets, run.damage)
    batches = answer.batches(topic=topic, open_=open_)
    if messages:
        emit_batches_of(run, TRANSACTIONS, batches, MESSAGES_BRIEF)
    else:
        emit_sums(run, transaction_sums(batches), BRIEF, COUNTERS)
