"""A lake summed up on one page: what is in the stores, who is behind, do the files agree, where to look next."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import duckdb
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from pipelines.installed.shipped import call_of
from pipelines.lake.catalog import open_catalog
from pipelines.lake.configuration.sources import Sources, demo_config
from pipelines.lake.lake import Lake
from pipelines.lake.questions import question

if TYPE_CHECKING:
    from pipelines.defs.runs.materialize import Outcome

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
