"""`rocketlens check-lake | vacuum`: whether a lake is whole, and what lies in its folder for nothing."""

from __future__ import annotations

from contextlib import suppress
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

    With --repair the rows of a file that the store still holds leave their table, and an ingest reads them again. Of
    what no store holds any more only the parts that cannot be read are taken out: all other rows stay, messages that
    are there twice too. What is lost is named with its rows (exit code 4), and what is left is named.

    A table whose log cannot be read is not repaired. Move its folder to another place and keep it, then
    `rocketlens ingest` makes the table from what the stores hold now. Only the folder you kept has the rest: rows of
    files that a broker has deleted since, and of topic_configs, group_configs and offset_snapshots every earlier
    snapshot, from which lag_history is made.

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
    """Take out what is not whole, ingest, and name what is lost and what is left.

    That it has to be read is kept before anything is taken out: a repair that is killed in between loses nothing.
    """
    from pipelines.lake.check import drop
    from pipelines.lake.tables.raw import FILE_TABLES, INGESTED_FILES, MADE_FROM
    from pipelines.spark.session import spark_session

    held, read_from_files = _files_held(sources), {table.name for table in FILE_TABLES}
    before = {fault.table: lake.partition_rows(fault.table) for fault in found if fault.part is not None}
    kept_books = [fault for fault in found if fault.table in (INGESTED_FILES.name, MADE_FROM.name)]
    drop(lake, kept_books, lambda table, values: False)
    _forget(lake, sources, found)
    others = [fault for fault in found if fault not in kept_books]
    left = drop(lake, others, lambda table, values: table in read_from_files and values in held)
    spark = spark_session(sources.spark_master)
    try:
        ingested(run, spark, sources, ())
    finally:
        spark.stop()
    for sentence in _lost(lake, before, found):
        run.not_read(sentence)
    for fault in left:
        if fault.partition is not None:
            run.note(f"{fault.table} of {' '.join(fault.partition)}: {fault.what}, left: the store has no such file")


def _files_held(sources: Sources) -> set[tuple[str, str]]:
    """(broker, file) of every file that the stores of the configuration hold; none of a store that is not there."""
    from parsers.places import name_below
    from parsers.store import NotAStore
    from pipelines.lake.broker_stores import store_of

    held = set()
    for broker in sources.brokers:
        with suppress(NotAStore):
            store = store_of(broker)
            held |= {(broker.name, name_below(store.root, file.path)) for file in store.files()}
    return held


def _forget(lake: Lake, sources: Sources, found: Sequence[Fault]) -> None:
    """Let the next ingest read and make again what has faults."""
    from pipelines.ingest.ingested import IngestedFiles
    from pipelines.ingest.made_from import MadeFrom
    from pipelines.lake.tables.raw import FILE_TABLES

    read_from_files = {table.name for table in FILE_TABLES}
    of_files = [(fault.table, fault.partition) for fault in found if fault.table in read_from_files and fault.partition]
    for broker in sources.brokers:
        known = IngestedFiles.load(lake, broker.name)
        asked = [(table, partition[1:]) for table, partition in of_files if partition[0] == broker.name]
        if forgotten := [(table, name) for table, file in asked for name in file or known.known]:
            known.forget(forgotten)
    made = MadeFrom.load(lake)
    made.forget(fault.table for fault in found)
    made.save()


def _lost(lake: Lake, before: Mapping[str, Counter[tuple[str, ...]]], found: Sequence[Fault]) -> list[str]:
    """A sentence for each partition of what was read from files that has fewer rows than before."""
    from pipelines.lake.tables.raw import FILE_TABLES, SNAPSHOT_TABLES

    told = []
    for table in (each.name for each in (*FILE_TABLES, *SNAPSHOT_TABLES)):
        faulty = {fault.partition for fault in found if fault.table == table and fault.partition is not None}
        now = lake.partition_rows(table) if table in before else {}
        for values in sorted(faulty if table in before else ()):
            if (rows := now.get(values, 0)) < (had := before[table][values]):
                told.append(f"{table} of {' '.join(values)}: had {had} rows, {rows} are left")
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
