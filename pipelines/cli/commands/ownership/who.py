"""`rocketlens who`: the story of one message."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from pipelines.cli.frame.asked.options import OWNERSHIP, BrokerOptions, RecordingsOption, kept_option
from pipelines.cli.frame.call.beside.kept_offsets import kept_copies
from pipelines.cli.frame.call.beside.recordings import heard_in
from pipelines.cli.frame.call.beside.topic_logs import lines_heard
from pipelines.cli.frame.call.command import command
from pipelines.cli.frame.call.configured import lake_at
from pipelines.cli.frame.call.opening import NOTHING_SAID, known_store_at
from pipelines.cli.frame.call.run import Run
from pipelines.cli.frame.errors import Unreadable, WrongUsage


@command("who", panel=OWNERSHIP)
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
    offsets: Annotated[Path | None, kept_option("Kept copies of consumerOffset.json.")] = None,
    broker: BrokerOptions = NOTHING_SAID,
) -> None:
    """The way of one message: sent, stored, queued, indexed, owned by whom, pulled, committed past, retried, given up;
    and what its clients traced of it.

    Of a message that the broker held back also: due when and delivered how late (delay level, timer); popped by whom,
    invisible until when, acknowledged, revived into which retry topic (POP).

    What the evidence does not tell is a row that says so. `certain` is false where only a window is known, and in what
    --logs shows queues whose broker may be another one: where the store's topics do not name its broker, brokerName
    in --broker-conf does.

    Example: `rocketlens who /data/store --message-id 7F00000100002A9F0000000000000000 --logs /data/logs`
    """
    from pipelines.answers.journey.evidence import trail_in_lake
    from pipelines.answers.journey.of_store import add_heard, store_trail
    from pipelines.answers.journey.step import STEP_SCHEMA
    from pipelines.answers.journey.steps import story
    from pipelines.answers.recorded.heard import Heard
    from pipelines.answers.recorded.ownership_rows import rows_to_batches
    from pipelines.recordings.topic_log import topic_events

    def recordings(own: str | None) -> Heard:
        return heard_in(run, logs, own, keeps_facts=True) if logs else Heard()

    if _is_lake(source):
        if broker.is_given:
            raise WrongUsage("--version, --config and --broker-conf belong to a STORE; rocketlens.toml has a lake's")
        if offsets is not None:
            raise WrongUsage("--offsets belongs to a STORE; a lake has snapshots of its own")
        heard, trail = recordings(None), trail_in_lake(lake_at(run, source), message_id)
    else:
        store, known = known_store_at(run, source, broker)
        own = known.broker_name
        heard = recordings(own)
        told = tuple(topic_events(lines_heard(run, heard.lives, own, names_lack=bool(logs))))
        copies = None if offsets is None else kept_copies(run, offsets)
        known = replace(known, topic_events=told)
        trail = store_trail(store, known, message_id, copies, heard.record, run.damage, int(time.time() * 1000))
        if trail is not None:
            trail.broker = own
    if trail is None:
        raise Unreadable(f"{source}: no message with the id {message_id}, neither as message id nor as unique id")
    add_heard(trail, heard, [str(place) for place in logs or ()])
    brief = ("at", "step", "group", "client_id", "certain", "what")
    run.emit(STEP_SCHEMA, rows_to_batches(STEP_SCHEMA, story(trail)), brief=brief)


def _is_lake(source: Path) -> bool:
    return (source / "tables" / "commitlog_messages").is_dir()
