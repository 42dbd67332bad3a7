"""`rocketlens demo`: the bundled store of a real broker, from bytes to tables to a page of answers."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import duckdb
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table as Grid
from rich.text import Text

from pipelines.cli.frame.errors import ExitCode
from pipelines.defs.asset_failure import AssetFailed
from pipelines.installed.extras import missing_extra, need
from pipelines.installed.shipped import DEMO, DEMO_SOURCES, call_of, own_copy
from pipelines.lake.catalog import open_catalog, publish, question
from pipelines.lake.configuration.sources import Sources, demo_config, read_sources
from pipelines.lake.lake import Lake
from pipelines.lake.lock import writing
from pipelines.notebook.bundles import bundled_store

if TYPE_CHECKING:
    from pipelines.defs.runs.materialize import Outcome

BUNDLE = DEMO / "5.3.3-clean" / "store.tar.gz"
TOPICS_SHOWN = 6
HOLDINGS = """
SELECT count(*) AS messages, count(DISTINCT topic) AS topics, sum(total_size) AS bytes,
       min(store_timestamp) AS first_stored, max(store_timestamp) AS last_stored,
       count(*) FILTER (crc_ok) AS crc_right, count(*) FILTER (crc_ok = false) AS crc_wrong
FROM commitlog_messages
"""
UNITS = "SELECT count(*) FROM consumequeue_units WHERE kind IS DISTINCT FROM 'pre_blank'"
ENTRIES = "SELECT count(*), count(DISTINCT file) FROM index_entries"
LOOSE_ENTRIES = """
SELECT count(*) FROM index_entries AS entries
ANTI JOIN commitlog_messages AS messages USING (broker, physical_offset)
"""


def build(sources: Sources, console: Console) -> Outcome:
    """Bring the whole lake up to date, and publish the catalogue."""
    imports = threading.Thread(target=importlib.import_module, args=("pipelines.definitions",), daemon=True)
    imports.start()  # Dagster is imported while the JVM starts; Spark wants the main thread
    columns = (SpinnerColumn(finished_text="[green]✓[/]"), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console) as progress:
        steps = _Steps(progress)
        steps.next("starting Spark and Dagster")
        from pipelines.spark.session import spark_session

        spark_session(sources.spark_master, sources.spark_properties, short_lived=True)
        imports.join()
        outcome = _materialize(sources, steps)
        steps.next("publishing the DuckDB catalogue")
        with writing(sources.lake, "demo"):
            publish(Lake(sources.lake))
        steps.done()
    return outcome


def _materialize(sources: Sources, steps: _Steps) -> Outcome:
    from pipelines.definitions import defs
    from pipelines.defs.dagster_home import open_instance
    from pipelines.defs.lakehouse import Lakehouse
    from pipelines.defs.runs.materialize import materialize_everything

    lakehouse = Lakehouse(config_file=str(demo_config()))
    return materialize_everything(defs, open_instance(sources.lake), lakehouse, progress=steps.next)


class _Steps:
    """Named steps one after another, each with its time."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self.task: TaskID | None = None

    def next(self, title: str) -> None:
        self.done()
        self.task = self.progress.add_task(title, total=1)

    def done(self) -> None:
        if self.task is not None:
            self.progress.update(self.task, completed=1)


def tell_failure(failed: AssetFailed, *, debug: bool) -> int:
    """One sentence on stderr, the trace with `debug`; the exit code."""
    if debug:
        print(failed.trace, file=sys.stderr)
    print(f"demo: {failed}{'' if debug else ' (--debug prints where)'}", file=sys.stderr)
    return ExitCode.FAULT


def main(argv: Sequence[str] | None = None) -> int:
    """0 when every asset was made and every check of the clean store passed, 1 when a check did not."""
    parser = argparse.ArgumentParser(prog="rocketlens demo", description=__doc__)
    parser.add_argument("--debug", action="store_true", help="print the trace of an asset that could not be made")
    debug = parser.parse_args(argv).debug
    console, began = Console(), time.monotonic()
    try:
        need("pyspark", "dagster", "deltalake", "matplotlib")
    except ModuleNotFoundError as missing:
        print(f"demo: {missing_extra(missing)}", file=sys.stderr)
        return ExitCode.WRONG_USAGE
    own_copy("demo", DEMO_SOURCES)
    sources = read_sources(demo_config())
    console.print("[bold]rocketlens demo[/] · the store of a RocketMQ 5.3.3 broker, ingested through Spark\n")
    bundled_store(BUNDLE.parent.name)  # where the configuration expects it
    try:
        checked = build(sources, console)
    except AssetFailed as refused:
        return tell_failure(refused, debug=debug)
    print_answer(console, sources, checked, seconds=time.monotonic() - began)
    return 1 if checked.failed_checks else 0


if __name__ == "__main__":
    sys.exit(main())


def print_answer(console: Console, sources: Sources, checked: Outcome, *, seconds: float) -> None:
    """Print the page."""
    with open_catalog(Lake(sources.lake)) as connection:
        _holdings(console, connection)
        _lag(console, connection)
        _agreement(console, connection, checked)
    _next_steps(console, sources, seconds)


def _holdings(console: Console, connection: duckdb.DuckDBPyConnection) -> None:
    messages, topics, size, first, last, right, wrong = connection.sql(HOLDINGS).fetchall()[0]
    console.print("\n[bold]What is in the store[/]")
    console.print(
        f"  {messages:,} messages on {topics} topics, {size / 2**20:.1f} MiB, stored "
        f"{first:%Y-%m-%d %H:%M:%S} to {last:%H:%M:%S} UTC; {right:,} bodies have their CRC, {wrong:,} do not."
    )
    grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for title in ("  topic", "messages", "bytes"):
        grid.add_column(
            title, justify="left" if title == "  topic" else "right", style="dim" if title == "bytes" else ""
        )
    rows = connection.sql(question("messages_by_topic")).fetchall()
    for _, topic, count, total, *_ in rows[:TOPICS_SHOWN]:
        grid.add_row(Text(f"  {_short(topic)}"), f"{count:,}", f"{total:,}")
    console.print(grid)
    if len(rows) > TOPICS_SHOWN:
        console.print(f"  … and {len(rows) - TOPICS_SHOWN} more", style="dim")


def _lag(console: Console, connection: duckdb.DuckDBPyConnection) -> None:
    console.print("\n[bold]How far behind each group is[/]  (as consumerProgress counts, at the last written offsets)")
    grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for title in ("  group", "messages", "seconds", "queues behind", "not known"):
        grid.add_column(title, justify="left" if title in ("  group", "not known") else "right")
    for row in connection.sql(question("lag_by_group")).to_arrow_table().to_pylist():
        unknown, no_seconds = row["queues_unknown"], row["seconds_unknown"]
        notes = [f"{unknown} queues"] if unknown else []
        notes += [f"seconds of {no_seconds} queues"] if no_seconds else []
        messages, seconds = row["messages_behind"], row["seconds_behind"]
        grid.add_row(
            Text(f"  {_short(row['group'])}"),
            f"at least {row['messages_behind_at_least']:,}" if messages is None else f"{messages:,}",
            "unknown" if seconds is None else f"{seconds:,.0f}",
            f"{row['queues_behind']} of {row['queues']}",
            "; ".join(notes),
        )
    console.print(grid)


def _agreement(console: Console, connection: duckdb.DuckDBPyConnection, checked: Outcome) -> None:
    ((units,),) = connection.sql(UNITS).fetchall()
    loose_units = len(connection.sql(question("units_without_message")).fetchall())
    ((entries, files),) = connection.sql(ENTRIES).fetchall()
    ((loose_entries,),) = connection.sql(LOOSE_ENTRIES).fetchall()
    console.print("\n[bold]Do CommitLog, ConsumeQueue and index agree?[/]")
    console.print(f"  {_verdict(units, loose_units)} {units:,} queue units, {loose_units:,} without their message")
    entry_count = f"{entries:,} index entries in {files} files"
    console.print(f"  {_verdict(entries, loose_entries)} {entry_count}, {loose_entries:,} to no message")
    failed = checked.failed_checks
    checks = f"failed: {', '.join(failed)}" if failed else f"{len(checked.checks)}, none failed"
    warned = f"; worth a look: {', '.join(checked.warnings)}" if checked.warnings else ""
    console.print(f"  {_verdict(1, len(failed))} asset checks: {checks}{warned}")
    for _, file, size, why in connection.sql(question("not_understood")).fetchall():
        console.print(f"    not read: {file} ({size:,} bytes): {why}", style="dim", highlight=False)


def _next_steps(console: Console, sources: Sources, seconds: float) -> None:
    store = _from_here(sources.brokers[0].place)
    dump = f"dump commitlog {store} --topic OrderTopic0 --limit 3"
    sql = 'sql "SELECT topic, count(*) FROM commitlog_messages GROUP BY 1"'
    of_demo = f"--config-file {_from_here(str(demo_config()))}"
    steps = (
        ("the assets, their columns, checks and lineage", call_of(f"ui {of_demo}")),
        ("notebooks over the same tables", call_of(f"lab {of_demo}")),
        ("ask in SQL", call_of(f"{sql} {of_demo}")),
        ("messages of a topic, straight from the files", call_of(dump)),
        ("your own brokers", f"{call_of('init STORE…')}, then {call_of('ingest')}"),
    )
    console.print("\n[bold]Where to look next[/]")
    for what, command in steps:
        console.print(Text.assemble(f"  {what}\n    ", (command, "cyan")), soft_wrap=True)
    console.print(f"\nDone in {seconds:.0f} s. The lake is {_from_here(str(sources.lake))}.", highlight=False)


def _from_here(path: str) -> str:
    return os.path.relpath(path)


def _verdict(seen: int, wrong: int) -> str:
    """Nothing seen proves nothing."""
    if not seen:
        return "[yellow]—  [/]"
    return "[green]yes[/]" if not wrong else "[red]no [/]"


def _short(name: str) -> str:
    return name if len(name) <= 40 else f"{name[:39]}…"
