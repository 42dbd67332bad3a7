"""`rocketlens lives` and `rocketlens groups`: what happened to topics and groups, and which groups are alive."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from pipelines.cli.frame.asked.options import (
    STORE_FILES,
    BrokerOptions,
    GroupOption,
    KeptOffsetsOption,
    StoreArgument,
    TopicLogsOption,
    TopicOption,
    kept_option,
)
from pipelines.cli.frame.call.beside.kept_offsets import kept_copies
from pipelines.cli.frame.call.beside.topic_logs import lines_heard, lines_told, listen
from pipelines.cli.frame.call.command import command
from pipelines.cli.frame.call.opening import NOTHING_SAID, known_store_at
from pipelines.cli.frame.call.rows import emit_rows_of, emit_sums
from pipelines.cli.frame.call.run import Run

BRIEF_EVENTS = ("subject", "name", "life", "happened", "earliest", "latest", "before", "after", "by", "certain")
BRIEF_GROUPS = (
    "group",
    "state",
    "absent_since",
    "topics",
    "unread",
    "dead_letters",
    "doubtful_offsets",
    "loses_nothing",
    "advice",
    "reason",
)


@command("lives", panel=STORE_FILES)
def lives(
    run: Run,
    store: StoreArgument,
    topic: TopicOption = None,
    group: GroupOption = None,
    logs: TopicLogsOption = None,
    kept: Annotated[
        Path | None,
        kept_option("Kept copies of topics.json and subscriptionGroup.json, beside the store's own and its .bak."),
    ] = None,
    broker: BrokerOptions = NOTHING_SAID,
) -> None:
    """What happened to topics and groups: created, changed, deleted, created again, vanished; when, and by whom.

    From the lines of the broker's log (--logs), from what two saved files differ in (the store's own, its .bak, copies
    in --kept), and from the messages alone: a life began before its first one, and ended after its last one.
    `earliest` and `latest` are the window in which it happened; they are one instant where dataVersion counts a single
    change between two files. `certain` is false where something else could explain the sources, and `reason` says what.

    Example: `rocketlens lives /data/store --logs /data/logs --topic Orders --format table`
    """
    from pipelines.answers.lives.life_events import life_event_row, life_events
    from pipelines.lake.tables.lives import LIFE_EVENTS

    opened, known = known_store_at(run, store, broker)
    if kept is not None:
        kept.stat()
        run.reads(kept)
    told = lines_told(run, logs, known.broker_name)
    found = life_events(opened, known, told, kept=kept, damage=run.damage, problem=run.not_read)
    wanted = {"topic": topic, "group": group}
    is_asked = topic is None and group is None
    rows = (life_event_row(event) for event in found if is_asked or event.name == wanted[event.subject])
    emit_rows_of(run, LIFE_EVENTS, rows, BRIEF_EVENTS)


@command("groups", panel=STORE_FILES)
def groups(
    run: Run,
    store: StoreArgument,
    group: GroupOption = None,
    logs: Annotated[
        list[Path] | None,
        typer.Option(
            readable=False,
            metavar="PATH",
            help="broker.log of this broker, or its folder: shows whether consumers are connected, and when topics "
            "were deleted and created; may be repeated.",
        ),
    ] = None,
    offsets: KeptOffsetsOption = None,
    no_proxy: Annotated[
        bool, typer.Option("--no-proxy", help="You know that no consumer comes through a proxy in cluster mode.")
    ] = False,
    broker: BrokerOptions = NOTHING_SAID,
) -> None:
    """Each consumer group: is it alive, and what would be lost if somebody deleted it.

    `state`: connected, or absent, where the broker's log (--logs) ends; unknown without one; system, made by brokers
    and tools. `unread` are messages that wait for the group alone: unread ones of its topics, and retries. A group
    `loses_nothing` where no consumer is connected, nothing is unread or popped and open, and there is no dead letter.
    It is empty where that is not decided, and `reason` says why: for brokers since 5.0.0, whose log does not show
    consumers behind a proxy, it is decided with --no-proxy only, and then `advice` names that word; where the store has
    a proxy's heartbeat of its consumers, that counts. It is said of this broker alone. A client may come back that no
    file shows. `unordered_topics`: FIFO topics whose messages it gets out of order over gRPC, as its
    consumeMessageOrderly is false.

    Example: `rocketlens groups /data/store --logs /data/logs --format table`
    """
    import pyarrow as pa

    from pipelines.answers.derived.group_rows import group_rows
    from pipelines.answers.lag.groups_left import groups_left
    from pipelines.answers.offsets.heard_lines import OffsetLines
    from pipelines.lake.tables.lives import GROUP_LIVES
    from pipelines.recordings.topic_log import LifeLines, topic_events

    opened, known = known_store_at(run, store, broker)
    lives, heard = LifeLines(), OffsetLines()
    if logs:
        listen(run, logs, [lives, heard])
        told = tuple(topic_events(lines_heard(run, lives, known.broker_name)))
        known = replace(known, topic_events=told)
    record = heard.record(known.broker_name) if lives.has_broker(known.broker_name) else None
    kept = [] if offsets is None else kept_copies(run, offsets)
    left = groups_left(opened, known, kept=kept, damage=run.damage)
    proxied = (replace(each, no_proxy=no_proxy) for each in left)
    rows = [row for row in group_rows(proxied, record) if group in (None, row["group"])]
    brief = (*BRIEF_GROUPS, *(["unordered_topics"] if any(row["unordered_topics"] for row in rows) else []))
    emit_sums(run, pa.Table.from_pylist(rows, schema=GROUP_LIVES.bare_schema), brief, ["former_topics"])
