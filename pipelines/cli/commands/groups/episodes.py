"""`rocketlens episodes`: when groups fell behind, and what caused it; status words over the last instants."""

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
from pipelines.cli.frame.call.beside.kept_offsets import NO_COPY
from pipelines.cli.frame.call.beside.recordings import heard_in
from pipelines.cli.frame.call.beside.topic_logs import lines_heard
from pipelines.cli.frame.call.command import command
from pipelines.cli.frame.call.opening import known_store_at
from pipelines.cli.frame.call.rows import emit_rows_of
from pipelines.cli.frame.call.run import Run
from pipelines.cli.frame.errors import Unreadable, WrongUsage
from recovery.query.lag_cause import LagCause

if TYPE_CHECKING:
    from pipelines.answers.offsets.saved import OffsetsAt

BRIEF = (
    *("group", "topic", "begin", "peak_at", "end", "peak_messages", "cause"),
    *LagCause,
    *("worst_queue_id", "store_log", "reason"),
)


@dataclass(frozen=True, slots=True)
class RowOptions:
    """What a row is of: an episode of some size, or a queue."""

    least: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Fewer messages behind are no episode; 100 without it.")
    ] = None
    status: Annotated[bool, typer.Option("--status", help="A status word for each queue instead.")] = False


@command("episodes", panel=STORE_FILES)
def episodes(
    run: Run,
    store: StoreArgument,
    offsets: Annotated[Path, kept_option("Kept copies of consumerOffset.json.")],
    wanted: GroupOptions,
    *,
    logs: RecordingsOption = None,
    row: RowOptions,
    broker: BrokerOptions,
) -> None:
    """When groups fell behind, and what caused it: the area under the curve of lag, split into causes.

    From the lag at each instant at which offsets were kept (--offsets), and from logs (--logs). The shares of an
    episode add up to 1: `offset_moved`, `ownership_gap` (nobody had the queue), `lock_wait` (an ordered consumer waited
    for its lock), `dispatch_delay` (the broker said so), `hot_queue`, `burst` (traffic beyond the usual, in one queue
    or in all), `slow_client` (its owner read less than usually comes in), `unexplained`. `store_log` counts what
    store.log and storeerror.log say of that time, if they are among --logs; `replay --show store` says what it means.
    `reason` says which record is lacking.
    `--status`: OK, WARN, STALL, STOP or REWIND for each queue by its last 10 instants, after Burrow's rules.

    Example: `rocketlens episodes /data/store --offsets /data/kept-offsets --logs /data/logs --format table`
    """
    from pipelines.answers.episodes.curve import curves_of
    from pipelines.answers.episodes.episodes import LEAST_MESSAGES, STATUS_SCHEMA, episode_rows, status_rows
    from pipelines.answers.episodes.of_recordings import conditions_of_recordings
    from pipelines.answers.episodes.of_store import kept_lag
    from pipelines.answers.recorded.heard import Heard
    from pipelines.lake.tables.lag import LAG_EPISODES
    from pipelines.recordings.topic_log import topic_events
    from recovery.lives.topic_lives import StoreLives

    if row.status and row.least is not None:
        raise WrongUsage("episodes: --status has a row for each queue, however many messages behind; leave --least out")
    opened, known = known_store_at(run, store, broker)
    for place in (*(logs or ()), offsets):
        place.stat()
        run.reads(place)
    copies = _copies(run, offsets, status=row.status)
    heard = heard_in(run, logs, known.broker_name) if logs else Heard()
    told = tuple(topic_events(lines_heard(run, heard.lives, known.broker_name, names_lack=False)))
    lives = StoreLives(opened, replace(known, topic_events=told))
    curves = list(curves_of(kept_lag(opened, copies, lives, group=wanted.group, topic=wanted.topic, damage=run.damage)))
    conditions, why_none = conditions_of_recordings(heard, opened)
    if why_none is not None:
        run.note(f"--logs: {why_none}: no cause is taken from them")
    if row.status:
        run.emit_rows(STATUS_SCHEMA, status_rows(curves, conditions))
    else:
        found = episode_rows(curves, conditions, least=row.least or LEAST_MESSAGES)
        emit_rows_of(run, LAG_EPISODES, found, BRIEF)


def _copies(run: Run, offsets: Path, *, status: bool) -> list[OffsetsAt]:
    """The kept copies, with a word on what they cannot show."""
    from pipelines.answers.offsets.saved import offsets_in

    copies = offsets_in(offsets, run.not_read)
    if not copies:
        raise Unreadable(NO_COPY.format(offsets))
    if not status and len({copy.written_ms for copy in copies}) < 2:
        run.note(f"{offsets}: offsets of one instant only: an episode takes those of two")
    by_mtime = sum(copy.by_mtime for copy in copies)
    if by_mtime and len(copies) > 1:
        run.note(
            f"{offsets}: {by_mtime} of {len(copies)} copies have no epoch milliseconds in their names: they count for "
            "when the files were last changed, which a plain `cp` makes the time of copying"
        )
    return copies
