"""`rocketlens lag`: how far behind each group is, as consumerProgress counts it, and in seconds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

from pipelines.cli.frame.asked.options import (
    STORE_FILES,
    BrokerOptions,
    GroupOptions,
    KeptOptions,
    StoreArgument,
    instant_of,
    instant_option,
)
from pipelines.cli.frame.call.beside.kept_offsets import offsets_at
from pipelines.cli.frame.call.beside.topic_logs import with_logs
from pipelines.cli.frame.call.command import command
from pipelines.cli.frame.call.opening import known_store_at, note_pops, note_static_topics, part_of_store_at
from pipelines.cli.frame.call.rows import emit_rows_of
from pipelines.cli.frame.call.run import Run

if TYPE_CHECKING:
    from parsers.store.store import Store
    from pipelines.answers.offsets.saved import OffsetsAt
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


@command("lag", panel=STORE_FILES)
def lag(
    run: Run,
    store: StoreArgument,
    wanted: GroupOptions,
    *,
    at: Annotated[str | None, instant_option("How far behind at that instant")] = None,
    kept: KeptOptions,
    broker: BrokerOptions,
) -> None:
    """How far behind consumers are: in messages, as `mqadmin consumerProgress` counts them, and in seconds.

    Without --at: when the offsets were written. With --at: as it was then, from the newest copy of the offsets written
    by then; where there is none, the figure is unknown and says so. Where the log is not found, the queue files tell
    messages and no seconds (exit code 4), and each row says what is unknown. Where a group pops, `reason` says what its
    figures then mean, by the newest 512 messages of each queue of the revive topic and of the timers: a group that
    popped before these may have no such word (`pop` reads all).

    Example: `rocketlens lag /data/store --group CG_orders --at 2026-11-21T03:12:00Z --offsets /data/kept-offsets`
    """
    from pipelines.lake.tables.lag import LAG
    from recovery.lives.topic_lives import StoreLives

    if kept.logs:
        opened, known = known_store_at(run, store, broker, in_part=True)
        lives = StoreLives(opened, with_logs(run, known, kept.logs))
    else:
        opened, lives = part_of_store_at(run, store, broker), None
    note_pops(run, opened)
    note_static_topics(run, opened)
    at_ms = None if at is None else instant_of(at, "--at")
    rows = _rows(run, opened, offsets_at(run, opened, kept.offsets, at_ms), at_ms, lives)
    emit_rows_of(run, LAG, (row for row in rows if wanted.wants(row["group"], row["topic"])), BRIEF)


def _rows(
    run: Run, store: Store, offsets: OffsetsAt, at_ms: int | None, lives: StoreLives | None
) -> Iterator[dict[str, Any]]:
    from parsers.values.utc import utc
    from pipelines.answers.lag.lag import lag_record, store_lag

    too_young = at_ms is not None and offsets.written_ms > at_ms
    for found in store_lag(store, offsets, at_ms=at_ms, damage=run.damage, lives=lives):
        row = lag_record(found)
        if too_young:
            row.update(consumer_offset=None, messages_behind=None, seconds_behind=None, status="unknown")
            row["reason"] = f"no offsets written by then are known; the oldest are of {utc(offsets.written_ms):%F %T}Z"
        yield row
