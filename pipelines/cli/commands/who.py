"""`rocketlens who`: the story of one message."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pipelines.cli.commands.lake import lake_at
from pipelines.cli.commands.replay import facts_in, replay_of
from pipelines.cli.frame.asked.options import OWNERSHIP, BrokerOptions, RecordingsOption
from pipelines.cli.frame.call.command import command
from pipelines.cli.frame.call.opening import NOTHING_SAID, known_store_at
from pipelines.cli.frame.call.run import Run
from pipelines.cli.frame.call.topic_logs import with_logs
from pipelines.cli.frame.errors import Unreadable, WrongUsage
from recovery.rules.settings import broker_conf_pairs

if TYPE_CHECKING:
    import pyarrow as pa

    from parsers.store.store import Store
    from pipelines.answers.journey.steps import Trail
    from recovery.knowledge.inference import StoreKnowledge


def register(app: typer.Typer) -> None:
    """Add the command."""
    command(app, "who", panel=OWNERSHIP)(who)


def who(
    run: Run,
    source: Annotated[
        Path,
        typer.Argument(readable=False, metavar="STORE_OR_LAKE", help="Store root of a broker, or a lake's folder."),
    ],
    message_id: Annotated[
        str, typer.Option(metavar="M", help="Message id (host and position), or the unique id the producer made.")
    ],
    logs: RecordingsOption = None,
    offsets: Annotated[
        Path | None, typer.Option(readable=False, metavar="FILE_OR_DIR", help="Kept copies of consumerOffset.json.")
    ] = None,
    broker: BrokerOptions = NOTHING_SAID,
) -> None:
    """The way of one message: sent, stored, queued, indexed, owned by whom, pulled, committed past, retried, given up;
    and what its clients traced of it.

    Of a message that the broker held back also: due when and delivered how late (delay level, timer); popped by whom,
    invisible until when, acknowledged, revived into which retry topic (POP).

    What the evidence does not tell is a row that says so. `certain` is false where only a window is known, and in what
    --logs tells of queues whose broker may be another one: brokerName in --broker-conf says which one the store is of.

    Example: `rocketlens who /data/store --message-id 7F00000100002A9F0000000000000000 --logs /data/logs`
    """
    from pipelines.answers.journey.steps import story
    from pipelines.answers.ownership_rows import rows_to_batches

    if _is_lake(source):
        if broker.is_given:
            raise WrongUsage("--version, --config and --broker-conf belong to a STORE; rocketlens.toml has a lake's")
        if offsets is not None:
            raise WrongUsage("--offsets belongs to a STORE; a lake has snapshots of its own")
        trail = _lake_trail(run, source, message_id)
    else:
        store, known = known_store_at(run, source, broker)
        trail = _store_trail(run, store, with_logs(run, known, logs), message_id, offsets)
        if trail is not None and broker.broker_conf is not None:
            trail.broker = broker_conf_pairs(broker.broker_conf).get("brokerName") or None
    if trail is None:
        raise Unreadable(f"{source}: no message with the id {message_id}, neither as message id nor as unique id")
    if logs:
        _add_recordings(run, trail, logs)
    schema = _schema()
    brief = ("at", "step", "group", "client_id", "certain", "what")
    run.emit(schema, rows_to_batches(schema, story(trail)), brief=brief)


def _is_lake(source: Path) -> bool:
    return (source / "tables" / "commitlog_messages").is_dir()


def _lake_trail(run: Run, source: Path, message_id: str) -> Trail | None:
    from pipelines.answers.journey.evidence import trail_in_lake

    return trail_in_lake(lake_at(run, source), message_id)


def _store_trail(run: Run, store: Store, known: StoreKnowledge, message_id: str, offsets: Path | None) -> Trail | None:
    from pipelines.answers.fates.pops import PopAnswer
    from pipelines.answers.journey.evidence import kept_offsets, trail_in_store
    from pipelines.answers.journey.held_back import held_back_in_store
    from pipelines.answers.offsets.saved import offsets_in, offsets_of_store
    from recovery.lives.topic_lives import StoreLives
    from recovery.query.query import StoreQuery

    query = StoreQuery(store, known, damage=run.damage)
    lives = StoreLives(store, known)
    trail = trail_in_store(store, query, message_id, lives, run.damage)
    if trail is not None:
        own = offsets_of_store(store, run.damage)
        stored = None if own is None else own.offsets
        popped = PopAnswer.of(store, known, stored, run.damage, lives().topics or None)
        now_ms = int(time.time() * 1000)
        trail.held = held_back_in_store(store, known, popped, trail.records, run.damage, now_ms)
        copies = offsets_in(offsets, run.not_read) if offsets is not None else [own] if own is not None else []
        trail.kept = list(kept_offsets(store, lives(), copies, trail.message))
        trail.looked_at = ["consumerOffset.json"] if copies else []
    return trail


def _add_recordings(run: Run, trail: Trail, logs: list[Path]) -> None:
    from pipelines.answers.journey.evidence import commits_in, pulls_in

    facts = list(facts_in(run, logs))
    place = trail.message.topic, trail.message.queue_id
    trail.commits = list(commits_in(facts, trail.message))
    trail.pulls = list(pulls_in(facts, trail.message))
    trail.intervals = [row for row in replay_of(facts).intervals if (row.topic, row.queue_id) == place]
    trail.looked_at = [*trail.looked_at, *map(str, logs)]


def _schema() -> pa.Schema:
    import pyarrow as pa

    texts = ("step", "group", "client_id", "what")
    return pa.schema(
        [
            ("at", pa.timestamp("ms", "UTC")),
            *((name, pa.string()) for name in texts),
            ("certain", pa.bool_()),
            ("evidence", pa.string()),
        ]
    )
