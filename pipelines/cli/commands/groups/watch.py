"""`rocketlens watch`: a store while a broker writes to it: rates, lag, and findings as they come."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING, Annotated, Any

import typer

from parsers.store.store import NotAStore
from pipelines.cli.frame.asked.options import STORE_FILES, BrokerOptions, Format, StoreArgument
from pipelines.cli.frame.call.command import command
from pipelines.cli.frame.call.opening import NOTHING_SAID, known_store_at
from pipelines.cli.frame.call.run import Run
from pipelines.cli.frame.errors import WrongUsage

if TYPE_CHECKING:
    import pyarrow as pa

    from parsers.damage.errors import Damage, DamageSink
    from parsers.store.store import Store
    from recovery.knowledge.inference import StoreKnowledge

BRIEF = ("at", "what", "topic", "group", "messages_per_second", "messages_behind", "seconds_behind", "reason")
COMPARE_EVERY_S = 60
COMPARES_AT_MOST = 0.1
"""The largest share of the time in which files are compared."""


@command("watch", panel=STORE_FILES)
def watch(
    run: Run,
    store: StoreArgument,
    every: Annotated[float, typer.Option(metavar="SECONDS", min=0.1, max=86_400, help="Time between two looks.")] = 2,
    times: Annotated[int | None, typer.Option(metavar="N", min=1, help="End after so many looks.")] = None,
    findings: Annotated[
        bool, typer.Option("--findings/--no-findings", help="Compare the files too, about once a minute.")
    ] = True,
    broker: BrokerOptions = NOTHING_SAID,
) -> None:
    """Watch a store while a broker writes to it, until Ctrl-C: messages per second, lag, and findings as they come.

    On a terminal one screen is kept up to date. Elsewhere each look is rows: one for the store, one for each topic, one
    for each group and topic, one for each finding that was not there before. Rates count messages that dispatch brought
    into the queues since the look before. Lag is as of the offsets that the broker saved last, which it does every five
    seconds. A finding is what two comparisons found at the same place, as `rocketlens verify` says it.
    Exit code 1 when there was any.

    Example: `rocketlens watch /data/store --every 5`
    """
    if times is None and run.format_ is Format.TABLE and not run.output().isatty():
        raise WrongUsage("a table is drawn when all its rows are there: give --times, or --format jsonl or csv")
    opened, known = known_store_at(run, store, broker)
    watched = _watched(run, opened, known, every=every, times=times, compares=findings)
    if run.format_ is Format.TABLE and run.output().isatty():
        from pipelines.cli.commands.groups.watch_screen import show

        show(watched, str(store))
    else:
        run.emit(_schema(), _batches(watched), brief=BRIEF)


def _schema() -> pa.Schema:
    from parsers.layouts.columns import schema_from

    return schema_from(
        "at time_ms, what text, topic text, group text, messages i64, messages_per_second real, messages_behind i64, "
        "seconds_behind real, reason text"
    )


def _batches(watched: Iterator[list[dict[str, Any]]]) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    with suppress(KeyboardInterrupt):
        for rows in watched:
            yield pa.RecordBatch.from_pylist(rows, schema=_schema())


def _watched(
    run: Run, store: Store, known: StoreKnowledge, *, every: float, times: int | None, compares: bool
) -> Iterator[list[dict[str, Any]]]:
    """The rows of one look after another, and those of new findings."""
    from pipelines.answers.lag.watching import Comparison, Look, NewFindings, look_at, store_row, watch_rows

    findings, damage = NewFindings(known), _each_once(run.damage)
    before: Look | None = None
    comparison: Comparison | None = None
    due = time.monotonic()
    for number in count(1):
        began, at_ms = time.monotonic(), int(time.time() * 1000)
        try:
            now = look_at(store.listed_again(), at_ms, damage).after(before)
            yield list(watch_rows(now, before))
            before = now
            if compares and comparison is None and time.monotonic() >= due:
                comparison = Comparison(findings, store.listed_again(), at_ms)
        except NotAStore as gone:
            yield [store_row(at_ms, str(gone))]
        if comparison is not None and (comparison.has_ended or number == times):
            found, took = comparison.result()
            run.findings(len(found))
            yield found
            comparison, due = None, time.monotonic() + max(COMPARE_EVERY_S, took / COMPARES_AT_MOST)
        if number == times:
            return
        time.sleep(max(0.0, every - (time.monotonic() - began)))


def _each_once(damage: DamageSink) -> DamageSink:
    """A sink that passes on what it has not met before: each look meets the same damage."""
    told = set[str]()

    def tell(found: Damage) -> None:
        if (text := repr(found)) not in told:
            told.add(text)
            damage(found)

    return tell
