"""`rocketlens check-lake | vacuum`: whether a lake is whole, and what lies in its folder for nothing."""

from __future__ import annotations

import os
from collections import Counter
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pipelines.cli.commands.lake import ConfigFile, ingested, sources_of, started
from pipelines.cli.frame.command import command
from pipelines.cli.frame.errors import ExitCode, Unreadable
from pipelines.cli.frame.options import LAKE
from pipelines.cli.frame.run import Run

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from pipelines.lake.check import Fault
    from pipelines.lake.delta import Part
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

    While the log of a table cannot be read nothing is repaired (exit code 3). Move its folder to another place and keep
    it, then `rocketlens ingest` makes the table from what the stores hold now. Only the folder you kept has the rest:
    rows of files that a broker has deleted since, and of topic_configs, group_configs and offset_snapshots every
    earlier snapshot, from which lag_history is made.

    Example: `rocketlens check-lake --format table`
    """
    from pipelines.installed.extras import need
    from pipelines.lake.check import faults
    from pipelines.lake.lake import lake_to_write
    from pipelines.lake.lock import writing

    need("pyspark", "deltalake")
    sources = sources_of(run, config_file)
    lake = lake_to_write(sources)
    _require_lake(lake)
    is_lost = False
    with writing(lake.root, "check-lake") if repair else nullcontext():
        found = list(faults(lake))
        if repair and found:
            is_lost = _repair(run, lake, sources, found)
            left = list(faults(lake))
            run.note(f"{len(found)} faults found, {len(left)} left")
            found = left
    run.emit_rows(_fault_schema(), map(_fault_row, found))
    run.findings(len(found))
    if is_lost:
        run.ends_with(ExitCode.READ_IN_PART)


def _require_lake(lake: Lake) -> None:
    """Raise Unreadable, before a folder or a lock is made, where no table was ever written."""
    if not lake.places[0].is_dir():
        raise Unreadable(f"no lake here yet: {lake.root}")


def _repair(run: Run, lake: Lake, sources: Sources, found: Sequence[Fault]) -> bool:
    """Take out what is not whole, ingest, and name what is lost and what is left; whether anything is lost.

    All that an ingest needs is there before anything is taken out, and so is the note that it has to be read: a repair
    that is killed in between loses nothing that a store holds.
    """
    from pipelines.lake.catalog import publish
    from pipelines.lake.check import drop
    from pipelines.lake.tables.raw import FILE_TABLES, INGESTED_FILES, MADE_FROM

    _refuse_without_logs(lake, found)
    held, read_from_files = _files_held(sources), {table.name for table in FILE_TABLES}
    kept_books = [fault for fault in found if fault.table in (INGESTED_FILES.name, MADE_FROM.name)]
    others = [fault for fault in found if fault not in kept_books]
    taken = _TakenOut(run, lake, sources, held, {(f.table, f.partition) for f in found if f.part is None})
    spark = started(run, sources)
    try:
        drop(lake, kept_books, lambda table, values: False)
        _forget(lake, sources, found)
        left = drop(lake, others, lambda table, values: table in read_from_files and values in held, taken.tell)
        ingested(run, spark, sources, ())
    finally:
        spark.stop()
        try:
            taken.tell_what_did_not_come_back()
        finally:
            publish(lake)
    for fault in left:
        if fault.partition is not None:
            run.note(f"{fault.table} of {' '.join(fault.partition)}: {fault.what}, left: the store has no such file")
    return taken.is_lost


def _refuse_without_logs(lake: Lake, found: Sequence[Fault]) -> None:
    if unknown := [fault for fault in found if fault.partition is None]:
        folders = ", ".join(str(lake.table_root(fault.table)) for fault in unknown)
        raise Unreadable(
            f"{folders}: {unknown[0].what}; nothing was repaired: move each such folder to another place and keep it, "
            "then `rocketlens ingest` makes the table from what the stores hold now"
        )


def _files_held(sources: Sources) -> set[tuple[str, str]]:
    """(broker, file) of every file that the stores of the configuration hold and that can be read; none of a store that
    is not there."""
    from parsers.places import name_below
    from parsers.store import NotAStore
    from pipelines.lake.broker_stores import store_of

    held = set()
    for broker in sources.brokers:
        with suppress(NotAStore):
            store = store_of(broker)
            files = (file.path for file in store.files() if _can_be_read(file.path))
            held |= {(broker.name, name_below(store.root, path)) for path in files}
    return held


def _can_be_read(path: Path) -> bool:
    """Whether a file opens, and gives its first and last byte."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            for position in {0, size - 1} if size else ():
                file.seek(position)
                if not file.read(1):
                    return False
    except OSError:
        return False
    return True


@dataclass(slots=True)
class _TakenOut:
    """What a repair took out of the tables that are read from stores, and what of it came back."""

    run: Run
    lake: Lake
    sources: Sources
    held: set[tuple[str, str]]
    doubled: set[tuple[str, tuple[str, ...] | None]]
    """(table, partition) with messages that are there twice, of which fewer come back."""
    awaited: dict[tuple[str, tuple[str, ...]], tuple[int, Counter[tuple[str, ...]]]] = field(default_factory=dict)
    """Rows that have to come back to a (table, partition), and the rows, by file, that stayed in it."""
    is_lost: bool = False
    _known: dict[str, set[str]] = field(default_factory=dict)
    """By broker, the files that the lake knew before the ingest; empty where it had lost count of them."""

    def tell(self, table: str, parts: Sequence[Part]) -> None:
        """Name what was just taken out of a table, and whether a store still holds it."""
        from pipelines.lake.tables.raw import FILE_TABLES, SNAPSHOT_TABLES

        if table not in {each.name for each in (*FILE_TABLES, *SNAPSHOT_TABLES)}:
            return  # made again from other tables
        again, gone = Counter[tuple[str, ...]](), Counter[tuple[str, ...]]()
        for part in parts:
            (again if self._comes_back(table, part) else gone)[part.partition] += part.rows
        for values, rows in sorted(gone.items()):
            self._lose(
                table, values, f"{rows} rows were taken out, and no store holds them any more or lets them be read"
            )
        for values, rows in sorted(again.items()):
            self.awaited[table, values] = rows, self._rows(table, values)
            self.run.note(f"{_named(table, values)}: {rows} rows were taken out; what the store holds is read again")

    def tell_what_did_not_come_back(self) -> None:
        """After an ingest, or what there was of it."""
        for (table, values), (rows, stayed) in self.awaited.items():
            now = self._rows(table, values)
            back = sum(max(0, count - stayed[file]) for file, count in now.items())
            if back < (min(rows, 1) if (table, values) in self.doubled else rows):
                self._lose(table, values, f"{rows} rows were taken out, {back} were read again")

    def _comes_back(self, table: str, part: Part) -> bool:
        from pipelines.lake.tables.raw import SNAPSHOT_TABLES

        if len(part.partition) == 1:  # files packed into common parts: what the part held shows when they are read
            return any(broker == part.partition[0] for broker, _ in self.held)
        broker, file = part.partition
        if (broker, file) not in self.held or table not in {each.name for each in SNAPSHOT_TABLES}:
            return (broker, file) in self.held
        with suppress(OSError):  # a state that the broker has since written over is nowhere else
            return (self.sources.broker(broker).store / file).stat().st_mtime_ns <= part.written_ms * 1_000_000
        return False

    def _rows(self, table: str, values: tuple[str, ...]) -> Counter[tuple[str, ...]]:
        """Rows of each file in a partition, without files that the lake had not known before."""
        from pipelines.ingest.ingested import IngestedFiles

        if len(values) > 1:
            return Counter({values: self.lake.partition_rows(table)[values]})
        rows = self.lake.file_rows(table)
        known = self._known.setdefault(values[0], set(IngestedFiles.load(self.lake, values[0]).known))
        return Counter({key: n for key, n in rows.items() if key[0] == values[0] and (not known or key[1] in known)})

    def _lose(self, table: str, values: tuple[str, ...], what: str) -> None:
        self.is_lost = True
        self.run.not_read(f"{_named(table, values)}: {what}")


def _named(table: str, partition: tuple[str, ...]) -> str:
    return f"{table} of {' '.join(partition)}"


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
    _require_lake(lake)
    with nullcontext() if dry_run else writing(lake.root, "vacuum"):
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
