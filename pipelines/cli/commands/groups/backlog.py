"""`rocketlens backlog`: what each group has to read, by what it subscribes to, and the message that it gets next."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pipelines.cli.frame.asked.options import (
    STORE_FILES,
    BrokerOptions,
    GroupOptions,
    RecordingsOption,
    StoreArgument,
    kept_option,
)
from pipelines.cli.frame.call.beside.kept_offsets import offsets_at
from pipelines.cli.frame.call.beside.recordings import heard_in
from pipelines.cli.frame.call.beside.topic_logs import lines_heard
from pipelines.cli.frame.call.command import command
from pipelines.cli.frame.call.opening import known_store_at, note_pops, note_static_topics
from pipelines.cli.frame.call.rows import emit_rows_of
from pipelines.cli.frame.call.run import Run
from pipelines.cli.frame.errors import WrongUsage

if TYPE_CHECKING:
    from pipelines.answers.backlog.subscriptions import Subscriptions
    from recovery.rules.versions import BrokerVersion

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
    "owners",
    "owned_until",
    "stands_since",
    "reason",
)


@dataclass(frozen=True, slots=True)
class SaidSubscription:
    """What one group is said to subscribe to on one topic."""

    tags: Annotated[
        str | None, typer.Option(metavar="EXPR", help="What --group subscribes to: `TagA || TagB`, or `*`.")
    ] = None
    sql92: Annotated[
        str | None, typer.Option("--sql92", metavar="EXPR", help="The SQL92 filter that --group subscribes with.")
    ] = None

    def refuse_other_than_of(self, wanted: GroupOptions) -> None:
        """Raise WrongUsage where it is two things, or of nobody named."""
        if (self.tags is not None or self.sql92 is not None) and (wanted.group is None or wanted.topic is None):
            raise WrongUsage(
                "backlog: --tags and --sql92 are the subscription of one --group to one --topic; name both"
            )
        if self.tags is not None and self.sql92 is not None:
            raise WrongUsage("backlog: a group subscribes with --tags or with --sql92, not with both")

    def beside(self, known: Subscriptions, version: BrokerVersion) -> Subscriptions:
        """What is known otherwise, with what is said."""
        from pipelines.answers.backlog.subscriptions import sql_subscription, tag_subscription
        from recovery.filter.errors import InvalidFilter

        if self.tags is not None:
            return replace(known, said=tag_subscription(self.tags))
        if self.sql92 is None:
            return known
        try:
            return replace(known, said=sql_subscription(self.sql92, version))
        except InvalidFilter as wrong:
            raise WrongUsage(f"backlog: --sql92: brokers of this version refuse it: {wrong}") from wrong


@command("backlog", panel=STORE_FILES)
def backlog(
    run: Run,
    store: StoreArgument,
    wanted: GroupOptions,
    said: SaidSubscription,
    *,
    offsets: Annotated[
        Path | None,
        kept_option("Kept copies of consumerOffset.json, the newest of which counts; else the store's own."),
    ] = None,
    logs: RecordingsOption = None,
    broker: BrokerOptions,
) -> None:
    """What each group has to read: unread messages that match its subscription, and the first of them.

    `lag` counts all messages between two offsets, as consumerProgress does. Here `unread` are those that are in the
    queue and of the living topic, `matching` those that the broker hands out: by the tags codes of the units, or by
    the SQL92 filter as this version evaluates it. SQL92 filters are known from consumerFilter.json, tags from the
    broker's log and captures (--logs); `subscription_from` says which. `head_…` is the message that the group gets
    next: the one that a stuck queue is stuck at. `owners` have the queue where the recordings end, or had it last,
    until `owned_until`; where `owner_certain` is false, they are all that it may be. `stands_since`: the group's offset
    did not move at least since then, by kept copies and recorded commits.

    Example: `rocketlens backlog /data/store --group CG_orders --logs /data/logs --offsets /data/kept-offsets`
    """
    from pipelines.answers.backlog.rows import backlog as rows_of
    from pipelines.answers.backlog.standing import Standing, stands_since
    from pipelines.answers.backlog.subscriptions import heard_subscriptions, subscriptions_of
    from pipelines.answers.offsets.saved import offsets_in
    from pipelines.answers.recorded.heard import Heard, owners_at_end
    from pipelines.lake.tables.lag import BACKLOG
    from pipelines.recordings.topic_log import topic_events
    from recovery.verify.ledger_in_motion import ledger_in_motion

    said.refuse_other_than_of(wanted)
    opened, known = known_store_at(run, store, broker, names_version=said.sql92 is not None)
    note_pops(run, opened)
    note_static_topics(run, opened)
    stored = offsets_at(run, opened, offsets)
    heard = heard_in(run, logs, known.broker_name, needed=False) if logs else Heard()
    told = tuple(topic_events(lines_heard(run, heard.lives, known.broker_name, names_lack=False)))
    brokers = heard.brokers()
    if brokers is None:
        run.note(f"--logs: {heard.why_no_broker()}: no owner and no subscription is taken from them")
    copies = [] if offsets is None else offsets_in(offsets, lambda sentence: None)  # what is wrong was named above
    commits = heard.record.commits_of(brokers or ())
    standing = Standing(owners_at_end(heard, brokers or ()), stands_since(stored, copies, commits))
    recorded = heard_subscriptions(heard.subscriptions.of(brokers or ()), known.version)
    subscriptions = replace(subscriptions_of(opened, known.version, run.damage), heard=recorded)
    asked = {(group, topic): queues for (group, topic), queues in stored.offsets.items() if wanted.wants(group, topic)}
    ledger = ledger_in_motion(opened, replace(known, topic_events=told))
    subscribed = said.beside(subscriptions, known.version)
    rows = rows_of(opened, ledger, asked, subscribed, run.damage, standing=standing)
    emit_rows_of(run, BACKLOG, rows, BRIEF)
