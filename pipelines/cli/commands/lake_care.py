"""`rocketlens check-lake | vacuum`: whether a lake is whole, and what lies in its folder for nothing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pipelines.cli.commands.lake import ConfigFile, ingested, sources_of
from pipelines.cli.frame.command import command
from pipelines.cli.frame.options import LAKE
from pipelines.cli.frame.run import Run

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from pipelines.lake.check import Fault
    from pipelines.lake.lake import Lake
    from pipelines.lake.sources import Sources

KEEP_DAYS = 7


def register(app: typer.Typer) -> None:
    """Add the commands."""
    for name, body in (("check-lake", check_lake), ("vacuum", vacuum)):
        command(app, name, panel=LAKE)(body)


def check_lake(
    run: Run,
    repair: Annotated[
        bool, typer.Option("--repair", help="Take out what is not whole, and read it from the stores again.")
    ] = False,
    config_file: ConfigFile = None,
) -> None:
    """Look at every part that the lake's tables name, and whether a message is there twice. Exit code 1: something is.

    With --repair the partitions that are not whole leave their tables, and an ingest reads them again. What the stores
    no longer hold is named, with its rows, and the exit code is 4. Nothing is repaired in a table whose log cannot be
    read: every table is made from the evidence, so its folder may be removed and `rocketlens ingest` makes it again.

    Example: `rocketlens check-lake --format table`
    """
    from pipelines.installed.extras import need
    from pipelines.lake.check import faults
    from pipelines.lake.lake import lake_to_write
    from pipelines.lake.lock import writing

    need("pyspark", "deltalake")
    sources = sources_of(run, config_file)
    lake = lake_to_write(sources)
    with writing(lake.root, "check-lake"):
        found = list(faults(lake))
        if repair and found:
            _repair(run, lake, sources, found)
            left = list(faults(lake))
            run.note(f"{len(found)} faults found, {len(left)} left")
            found = left
    run.emit_rows(_fault_schema(), map(_fault_row, found))
    run.findings(len(found))


def _repair(run: Run, lake: Lake, sources: Sources, found: Sequence[Fault]) -> None:
    """Drop what is not whole, ingest, and name what the stores did not give back."""
    from pipelines.ingest.ingested import IngestedFiles
    from pipelines.ingest.made_from import MadeFrom
    from pipelines.lake.check import drop
    from pipelines.lake.tables.raw import FILE_TABLES
    from pipelines.spark.session import spark_session

    before = {fault.table: lake.partition_rows(fault.table) for fault in found if fault.part is not None}
    dropped = drop(lake, found)
    for broker in sources.brokers:
        of_broker = [
            (table.name, file)
            for table in FILE_TABLES
            for name, file in dropped.get(table.name, ())
            if name == broker.name
        ]
        if of_broker:
            IngestedFiles.load(lake, broker.name).forget(of_broker)
    made = MadeFrom.load(lake)
    made.forget(dropped)
    made.save()
    spark = spark_session(sources.spark_master)
    try:
        ingested(run, spark, sources, ())
    finally:
        spark.stop()
    for sentence in _not_given_back(lake, before, dropped):
        run.not_read(sentence)


def _not_given_back(
    lake: Lake, before: Mapping[str, Counter[tuple[str, ...]]], dropped: Mapping[str, set[tuple[str, ...]]]
) -> list[str]:
    from pipelines.lake.tables.raw import FILE_TABLES, SNAPSHOT_TABLES

    told = []
    for table in (each.name for each in (*FILE_TABLES, *SNAPSHOT_TABLES)):
        now = lake.partition_rows(table) if table in before else {}
        for values in sorted(dropped.get(table, ()) if table in before else ()):
            if (rows := now.get(values, 0)) < (had := before[table][values]):
                told.append(f"{table} of {' '.join(values)}: had {had} rows, the store gives {rows}")
    return told


def vacuum(
    run: Run,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="List it, remove nothing.")] = False,
    keep_days: Annotated[
        float, typer.Option(metavar="DAYS", min=0, help="Versions of the last so many days keep their parts.")
    ] = KEEP_DAYS,
    config_file: ConfigFile = None,
) -> None:
    """Remove what lies in the lake's folder and belongs to no version that is kept, and list it.

    These are parts that were replaced, parts that a killed process never committed, and its temporary files. The
    published catalogue keeps its parts. A version older than --keep-days can no longer be read afterwards; a reader
    that has had one open for longer loses it.

    Example: `rocketlens vacuum --dry-run --format table`
    """
    from pipelines.installed.extras import need
    from pipelines.lake.lake import lake_to_write
    from pipelines.lake.lock import writing
    from pipelines.lake.vacuum import leftovers, remove

    need("deltalake")
    lake = lake_to_write(sources_of(run, config_file))
    with writing(lake.root, "vacuum"):
        found = list(leftovers(lake, keep_days=keep_days))
        for left in () if dry_run else found:
            remove(left)
    verb = "would be" if dry_run else "were"
    run.note(f"{len(found)} files and folders of {sum(left.size for left in found)} bytes {verb} removed")
    rows = ({"path": _below(lake.root, left.path), "bytes": left.size, "why": left.why} for left in found)
    run.emit_rows(_leftover_schema(), rows)


def _below(root: Path, path: Path) -> str:
    return str(path.relative_to(root))


def _leftover_schema() -> pa.Schema:
    import pyarrow as pa

    return pa.schema([("path", pa.string()), ("bytes", pa.int64()), ("why", pa.string())])


def _fault_schema() -> pa.Schema:
    import pyarrow as pa

    return pa.schema([(name, pa.string()) for name in ("table", "partition", "part", "what")])


def _fault_row(fault: Fault) -> dict[str, str | None]:
    partition = None if fault.partition is None else "/".join(map(str, fault.partition))
    return {"table": fault.table, "partition": partition, "part": fault.part, "what": fault.what}
