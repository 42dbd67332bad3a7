"""`rocketlens lag`: how far behind each group is, as consumerProgress counts it, and in seconds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pipelines.cli.frame.command import command
from pipelines.cli.frame.errors import Unreadable
from pipelines.cli.frame.opening import NOTHING_SAID, known_store_at, note_pops, part_of_store_at
from pipelines.cli.frame.options import (
    STORE_FILES,
    BrokerOptions,
    InstantOption,
    KeptOffsetsOption,
    StoreArgument,
    TopicLogsOption,
    TopicOption,
    instant_of,
)
from pipelines.cli.frame.run import Run
from pipelines.cli.frame.topic_logs import with_logs

if TYPE_CHECKING:
    import pyarrow as pa

    from parsers.store import Store
    from pipelines.answers.offsets.saved import OffsetsAt
    from pipelines.lake.tables.table import Table
    from recovery.lives.topic_lives import StoreLives

BRIEF = (
    "group",
    "topic",
    "queue_id",
    "broker_offset",
    "consumer_offset",
    "messages_behind",
    "seconds_behind",
    "reason",
)


def register(app: typer.Typer) -> None:
    """Add the command."""
    command(app, "lag", panel=STORE_FILES)(lag)


def lag(
    run: Run,
    store: StoreArgument,
    group: Annotated[str | None, typer.Option(metavar="G", help="Only this consumer group.")] = None,
    topic: TopicOption = None,
    at: InstantOption = None,
    offsets: KeptOffsetsOption = None,
    logs: TopicLogsOption = None,
    broker: BrokerOptions = NOTHING_SAID,
) -> None:
    """How far behind consumers are: in messages, as `mqadmin consumerProgress` counts them, and in seconds.

    Without --at: when the offsets were written. With --at: as it was then, from the newest copy of the offsets written
    by then; where there is none, the figure is unknown and says so. Where the log is not found, the queue files tell
    messages and no seconds (exit code 4), and each row says what is unknown.

    Example: `rocketlens lag /data/store --group CG_orders --at 2026-11-21T03:12:00Z --offsets /data/kept-offsets`
    """
    from pipelines.lake.tables.derived import LAG
    from recovery.lives.topic_lives import StoreLives

    if logs:
        opened, known = known_store_at(run, store, broker, in_part=True)
        lives = StoreLives(opened, with_logs(run, known, logs))
    else:
        opened, lives = part_of_store_at(run, store, broker), None
    note_pops(run, opened)
    at_ms = None if at is None else instant_of(at, "--at")
    rows = _rows(run, opened, offsets_at(run, opened, offsets, at_ms), at_ms, lives)
    wanted = (row for row in rows if group in (None, row["group"]) and topic in (None, row["topic"]))
    run.emit_rows(_schema(LAG), wanted, brief=BRIEF)


def _schema(table: Table) -> pa.Schema:
    """The table without its lake column `broker`: which broker it is, a store does not say."""
    import pyarrow as pa

    return pa.schema([field for field in table.bare_schema if field.name != "broker"])


def offsets_at(run: Run, store: Store, place: Path | None, at_ms: int | None) -> OffsetsAt:
    """The newest copy written by `at_ms`; the oldest there is when all are younger."""
    from pipelines.answers.offsets.saved import offsets_in, offsets_of_store

    if place is None:
        own = offsets_of_store(store, run.damage)
        if own is None:
            raise Unreadable(f"{store.root}: no config/consumerOffset.json there; name a copy of it with --offsets")
        return own
    place.stat()
    copies = offsets_in(place, run.not_read)
    if not copies:
        raise Unreadable(f"{place}: no copy of consumerOffset.json there")
    return next((copy for copy in reversed(copies) if at_ms is None or copy.written_ms <= at_ms), copies[0])


def _rows(
    run: Run, store: Store, offsets: OffsetsAt, at_ms: int | None, lives: StoreLives | None
) -> Iterator[dict[str, Any]]:
    from parsers.utc import utc
    from pipelines.answers.lag import lag_record, store_lag

    too_young = at_ms is not None and offsets.written_ms > at_ms
    for found in store_lag(store, offsets, at_ms=at_ms, damage=run.damage, lives=lives):
        row = lag_record(found)
        if too_young:
            row.update(consumer_offset=None, messages_behind=None, seconds_behind=None, status="unknown")
            row["reason"] = f"no offsets written by then are known; the oldest are of {utc(offsets.written_ms):%F %T}Z"
        yield row
