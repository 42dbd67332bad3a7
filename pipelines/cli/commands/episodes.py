"""`rocketlens episodes`: when groups fell behind, and what caused it; status words over the last instants."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pipelines.cli.frame.command import command
from pipelines.cli.frame.errors import Unreadable
from pipelines.cli.frame.opening import NOTHING_SAID, known_store_at
from pipelines.cli.frame.options import STORE_FILES, BrokerOptions, StoreArgument, TopicOption
from pipelines.cli.frame.rows import schema_of
from pipelines.cli.frame.run import Run
from pipelines.cli.frame.topic_logs import lines_told
from recovery.query.lag_cause import LagCause

if TYPE_CHECKING:
    import pyarrow as pa

    from pipelines.answers.episodes.conditions import Conditions

BRIEF = ("group", "topic", "begin", "peak_at", "end", "peak_messages", "cause", *LagCause, "worst_queue_id", "reason")


def register(app: typer.Typer) -> None:
    """Add the command."""
    command(app, "episodes", panel=STORE_FILES)(episodes)


def episodes(
    run: Run,
    store: StoreArgument,
    offsets: Annotated[
        Path,
        typer.Option("--offsets", readable=False, metavar="FILE_OR_DIR", help="Kept copies of consumerOffset.json."),
    ],
    group: Annotated[str | None, typer.Option(metavar="G", help="Only this consumer group.")] = None,
    topic: TopicOption = None,
    logs: Annotated[
        list[Path] | None,
        typer.Option(
            readable=False,
            metavar="PATH",
            help="Logs of the broker and of clients, captures, or folders of them; may be repeated.",
        ),
    ] = None,
    least: Annotated[int, typer.Option(metavar="N", min=1, help="Less messages behind are no episode.")] = 100,
    status: Annotated[bool, typer.Option("--status", help="A status word for each queue instead.")] = False,
    broker: BrokerOptions = NOTHING_SAID,
) -> None:
    """When groups fell behind, and what caused it: the area under the curve of lag, split into causes.

    From the lag at each instant at which offsets were kept (--offsets), and from logs (--logs). The shares of an
    episode add up to 1: `offset_moved`, `ownership_gap` (nobody had the queue), `lock_wait` (an ordered consumer waited
    for its lock), `dispatch_delay` (the broker said so), `hot_queue`, `burst` (traffic beyond the usual, in one queue
    or in all), `slow_client` (its owner read less than usually comes in), `unexplained`. `reason` says which record is
    lacking.
    `--status`: OK, WARN, STALL, STOP or REWIND for each queue by its last 10 instants, after Burrow's rules.

    Example: `rocketlens episodes /data/store --offsets /data/kept-offsets --logs /data/logs --format table`
    """
    from pipelines.answers.episodes.curve import curves_of
    from pipelines.answers.episodes.episodes import STATUS_SCHEMA, episode_rows, status_rows
    from pipelines.answers.lag import lag_record, store_lag
    from pipelines.answers.offsets.saved import offsets_in
    from pipelines.lake.tables.derived import LAG_EPISODES
    from pipelines.recordings.topic_log import topic_events
    from recovery.lives.topic_lives import StoreLives

    opened, known = known_store_at(run, store, broker)
    for place in (*(logs or ()), offsets):
        place.stat()
        run.reads(place)
    copies = offsets_in(offsets, run.not_read)
    if not copies:
        raise Unreadable(f"{offsets}: no copy of consumerOffset.json there")
    told = tuple(topic_events(lines_told(run, logs, names_lack=False)))
    lives = StoreLives(opened, replace(known, topic_events=told))
    rows = (
        lag_record(row)
        for copy in copies
        for row in store_lag(opened, copy, at_ms=copy.written_ms, damage=run.damage, lives=lives)
        if group in (None, row.group) and topic in (None, row.topic)
    )
    curves = list(curves_of(rows))
    conditions = _conditions(run, logs or [])
    if status:
        run.emit_rows(STATUS_SCHEMA, status_rows(curves, conditions))
    else:
        found = episode_rows(curves, conditions, least=least)
        run.emit_rows(schema_of(LAG_EPISODES, without=["broker"]), found, brief=BRIEF)


def _conditions(run: Run, logs: list[Path]) -> Conditions:
    """What held meanwhile, by the replay of the logs and by the broker's own lines."""
    from pipelines.answers.episodes.conditions import absences_of, conditions_of
    from pipelines.answers.offsets.record import read_offset_record
    from pipelines.answers.ownership_rows import rows_to_batches
    from pipelines.cli.commands.replay import facts_in, replay_of
    from pipelines.lake.tables.ownership import OWNERSHIP_ANOMALIES, OWNERSHIP_INTERVALS
    from pipelines.recordings.dispatch_log import dispatch_behind

    if not logs:
        return conditions_of((), ())
    history = replay_of(facts_in(run, logs))
    record = read_offset_record(logs, problem=run.not_read)
    behind = dispatch_behind(logs, run.not_read)
    owned = rows_to_batches(OWNERSHIP_INTERVALS.bare_schema, history.intervals)
    wrong = rows_to_batches(OWNERSHIP_ANOMALIES.bare_schema, history.anomalies)
    return conditions_of(_rows(owned), _rows(wrong), behind, absences_of(record))


def _rows(batches: Iterable[pa.RecordBatch]) -> Iterator[dict[str, Any]]:
    return (row for batch in batches for row in batch.to_pylist())
