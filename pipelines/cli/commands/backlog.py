"""`rocketlens backlog`: what each group has to read, by what it subscribes to, and the message that it gets next."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from pipelines.cli.frame.asked.options import (
    STORE_FILES,
    BrokerOptions,
    GroupOptions,
    KeptOptions,
    StoreArgument,
)
from pipelines.cli.frame.call.command import command
from pipelines.cli.frame.call.kept_offsets import offsets_at
from pipelines.cli.frame.call.opening import known_store_at, note_pops
from pipelines.cli.frame.call.rows import emit_rows_of
from pipelines.cli.frame.call.run import Run
from pipelines.cli.frame.call.topic_logs import with_logs
from pipelines.cli.frame.errors import WrongUsage

BRIEF = (
    "group",
    "topic",
    "queue_id",
    "subscription",
    "unread",
    "matching",
    "head_queue_offset",
    "head_keys",
    "head_stored_at",
    "reason",
)


def register(app: typer.Typer) -> None:
    """Add the command."""
    command(app, "backlog", panel=STORE_FILES)(backlog)


def backlog(
    run: Run,
    store: StoreArgument,
    wanted: GroupOptions,
    *,
    tags: Annotated[
        str | None, typer.Option(metavar="EXPR", help="What --group subscribes to: `TagA || TagB`, or `*`.")
    ] = None,
    sql92: Annotated[
        str | None, typer.Option("--sql92", metavar="EXPR", help="The SQL92 filter that --group subscribes with.")
    ] = None,
    kept: KeptOptions,
    broker: BrokerOptions,
) -> None:
    """What each group has to read: unread messages that match its subscription, and the first of them.

    `lag` counts all messages between two offsets, as consumerProgress does. Here `unread` are those that are in the
    queue and of the living topic, `matching` those that the broker hands out: by the tags codes of the units, or by
    the SQL92 filter as this version evaluates it. SQL92 filters are known from consumerFilter.json; tags are in no
    file of a broker. `head_…` is the message that the group gets next: the one that a stuck queue is stuck at.

    Example: `rocketlens backlog /data/store --group CG_orders --topic Orders --tags 'TagA || TagB'`
    """
    from pipelines.answers.backlog.rows import backlog as rows_of
    from pipelines.answers.backlog.subscriptions import sql_subscription, subscriptions_of, tag_subscription
    from pipelines.lake.tables.lag import BACKLOG
    from recovery.filter.errors import InvalidFilter
    from recovery.verify.ledger_in_motion import ledger_in_motion

    if (tags is not None or sql92 is not None) and (wanted.group is None or wanted.topic is None):
        raise WrongUsage("backlog: --tags and --sql92 are the subscription of one --group to one --topic; name both")
    if tags is not None and sql92 is not None:
        raise WrongUsage("backlog: a group subscribes with --tags or with --sql92, not with both")
    opened, known = known_store_at(run, store, broker, names_version=sql92 is not None)
    note_pops(run, opened)
    stored = offsets_at(run, opened, kept.offsets).offsets
    subscriptions = subscriptions_of(opened, known.version, run.damage)
    if tags is not None:
        subscriptions = replace(subscriptions, said=tag_subscription(tags))
    if sql92 is not None:
        try:
            subscriptions = replace(subscriptions, said=sql_subscription(sql92, known.version))
        except InvalidFilter as wrong:
            raise WrongUsage(f"backlog: --sql92: brokers of this version refuse it: {wrong}") from wrong
    asked = {(group, topic): queues for (group, topic), queues in stored.items() if wanted.wants(group, topic)}
    ledger = ledger_in_motion(opened, with_logs(run, known, kept.logs))
    emit_rows_of(run, BACKLOG, rows_of(opened, ledger, asked, subscriptions, run.damage), BRIEF)
