"""`rocketlens episodes`: when groups fell behind, and what caused it; status words over the last instants."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Set
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pipelines.cli.frame.asked.options import STORE_FILES, BrokerOptions, GroupOptions, RecordingsOption, StoreArgument
from pipelines.cli.frame.call.command import command
from pipelines.cli.frame.call.opening import known_store_at
from pipelines.cli.frame.call.rows import emit_rows_of
from pipelines.cli.frame.call.run import Run
from pipelines.cli.frame.call.topic_logs import lines_told
from pipelines.cli.frame.errors import Unreadable, WrongUsage
from recovery.query.lag_cause import LagCause

if TYPE_CHECKING:
    import pyarrow as pa

    from parsers.store.store import Store
    from pipelines.answers.episodes.conditions import Conditions
    from pipelines.answers.offsets.saved import OffsetsAt
    from rebalance.facts import Fact

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
    wanted: GroupOptions,
    *,
    logs: RecordingsOption = None,
    least: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Fewer messages behind are no episode; 100 without it.")
    ] = None,
    status: Annotated[bool, typer.Option("--status", help="A status word for each queue instead.")] = False,
    broker: BrokerOptions,
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
    from pipelines.answers.episodes.episodes import LEAST_MESSAGES, STATUS_SCHEMA, episode_rows, status_rows
    from pipelines.answers.episodes.of_store import kept_lag
    from pipelines.lake.tables.lag import LAG_EPISODES
    from pipelines.recordings.topic_log import topic_events
    from recovery.lives.topic_lives import StoreLives

    if status and least is not None:
        raise WrongUsage("episodes: --status has a row for each queue, however many messages behind; leave --least out")
    opened, known = known_store_at(run, store, broker)
    for place in (*(logs or ()), offsets):
        place.stat()
        run.reads(place)
    copies = _copies(run, offsets, status=status)
    told = tuple(topic_events(lines_told(run, logs, names_lack=False)))
    lives = StoreLives(opened, replace(known, topic_events=told))
    curves = list(curves_of(kept_lag(opened, copies, lives, group=wanted.group, topic=wanted.topic, damage=run.damage)))
    conditions = _conditions(run, opened, logs or [])
    if status:
        run.emit_rows(STATUS_SCHEMA, status_rows(curves, conditions))
    else:
        found = episode_rows(curves, conditions, least=least or LEAST_MESSAGES)
        emit_rows_of(run, LAG_EPISODES, found, BRIEF)


def _copies(run: Run, offsets: Path, *, status: bool) -> list[OffsetsAt]:
    """The kept copies, with a word on what they cannot show."""
    from pipelines.answers.offsets.saved import offsets_in

    copies = offsets_in(offsets, run.not_read)
    if not copies:
        raise Unreadable(f"{offsets}: no copy of consumerOffset.json there")
    if not status and len({copy.written_ms for copy in copies}) < 2:
        run.note(f"{offsets}: offsets of one instant only: an episode takes those of two")
    by_mtime = sum(copy.by_mtime for copy in copies)
    if by_mtime and len(copies) > 1:
        run.note(
            f"{offsets}: {by_mtime} of {len(copies)} copies have no epoch milliseconds in their names: they count for "
            "when the files were last changed, which a plain `cp` makes the time of copying"
        )
    return copies


def _conditions(run: Run, store: Store, logs: list[Path]) -> Conditions:
    """What held meanwhile, by the replay of the logs and by the broker's own lines; of the store's broker only."""
    from pipelines.answers.episodes.conditions import Conditions, Told, absences_of, conditions_of
    from pipelines.answers.episodes.of_store import mean_record_size
    from pipelines.answers.offsets.record import read_offset_record
    from pipelines.answers.ownership_rows import rows_to_batches
    from pipelines.cli.commands.replay import facts_in, replay_of
    from pipelines.lake.tables.ownership import OWNERSHIP_ANOMALIES, OWNERSHIP_INTERVALS
    from pipelines.recordings.dispatch_log import dispatch_behind
    from pipelines.recordings.topic_log import topic_logs

    if not logs:
        return Conditions()
    until_ms = [0]
    history = replay_of(_noting_end(facts_in(run, logs), until_ms))
    owned = list(_rows(rows_to_batches(OWNERSHIP_INTERVALS.bare_schema, history.intervals)))
    wrong = list(_rows(rows_to_batches(OWNERSHIP_ANOMALIES.bare_schema, history.anomalies)))
    logged, owning = set(topic_logs(logs, run.not_read)), {row["broker"] for row in (*owned, *wrong)} - {None}
    brokers = broker_among(logged, owning)
    if brokers is None:
        named = ", ".join(sorted(map(str, logged | owning)))
        run.note(f"--logs: several brokers ({named}); which is the store's is not known: no cause is taken from them")
        return Conditions()
    record = read_offset_record(logs, problem=run.not_read)
    told = Told(
        list(dispatch_behind(logs, run.not_read)),
        absences_of(record),
        record.covered,
        max([until_ms[0], *(end for _, end in record.covered)]),
        mean_record_size(store, lambda damage: None),
    )
    return conditions_of(_of(brokers, owned), _of(brokers, wrong), told)


def broker_among(logged: Set[str], owning: Set[str]) -> Set[str] | None:
    """The name of the store's broker, among those of broker logs and those of the owned queues; None where it cannot be
    told, nothing where none is named. A log that does not name its broker goes by its folder."""
    brokers = logged & owning or owning or logged
    return brokers if len(logged) < 2 and len(brokers) < 2 else None


def _noting_end(facts: Iterable[Fact], until_ms: list[int]) -> Iterator[Fact]:
    """The facts, the latest instant of them noted in the list."""
    for fact in facts:
        until_ms[0] = max(until_ms[0], fact.at_ms + fact.late_ms)
        yield fact


def _of(brokers: Collection[str], rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    return (row for row in rows if row["broker"] is None or row["broker"] in brokers)


def _rows(batches: Iterable[pa.RecordBatch]) -> Iterator[dict[str, Any]]:
    return (row for batch in batches for row in batch.to_pylist())
