"""`rocketlens dump dledger`: what replicas of a DLedger log agree on: its entries, their index, the node's state."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pipelines.cli.frame.asked.options import BrokerOptions, StoreOrFile
from pipelines.cli.frame.call.command import command
from pipelines.cli.frame.call.opening import NOTHING_SAID, file_as, is_file, store_at
from pipelines.cli.frame.call.run import Run
from pipelines.cli.frame.errors import WrongUsage

if TYPE_CHECKING:
    import pyarrow as pa

    from parsers.store.places import FileKind
    from parsers.store.store import Store
    from parsers.store.store_file import StoreFile


@command("dledger")
def dledger(
    run: Run,
    source: StoreOrFile,
    index: Annotated[bool, typer.Option("--index", help="The units of the entries' index instead.")] = False,
    state: Annotated[bool, typer.Option("--state", help="The node's term, vote and checkpoint instead.")] = False,
    broker: BrokerOptions = NOTHING_SAID,
) -> None:
    """Entries of a DLedger log (enableDLegerCommitLog): number, term, place, and where the message in each is.

    The messages themselves are printed by `dump commitlog`, as those of any log.

    Example: `rocketlens dump dledger /data/store --format table`
    """
    from parsers.dledger.entries import ENTRY_SCHEMA, read_entries
    from parsers.dledger.index import ENTRY_INDEX_SCHEMA, read_entry_index

    if index and state:
        raise WrongUsage("--index and --state: one of them")
    if state:
        _emit_state(run, _files(run, source, broker, "dledger_state"))
    elif index:
        _emit(run, source, _files(run, source, broker, "dledger_index"), ENTRY_INDEX_SCHEMA, read_entry_index)
    else:
        _emit(run, source, _files(run, source, broker, "dledger"), ENTRY_SCHEMA, read_entries)


def _files(run: Run, source: Path, broker: BrokerOptions, kind: FileKind) -> list[StoreFile]:
    if is_file(source):
        return [file_as(run, source, kind)]
    store: Store = store_at(run, source, broker)
    return [file for file in (*store.commitlog, *store.dledger) if file.kind == kind]


def _emit(
    run: Run, source: Path, files: list[StoreFile], columns: pa.Schema, read: Callable[..., Iterator[pa.RecordBatch]]
) -> None:
    import pyarrow as pa

    from pipelines.cli.frame.call.rows import place_of
    from pipelines.lake.tables.rows import conform
    from pipelines.lake.tables.table import plain_type

    schema = pa.schema([(field.name, plain_type(field.type)) for field in columns])
    run.emit(
        schema,
        (
            batch
            for file in files
            for batch in conform(read([file], damage=run.damage), schema, {"file": place_of(file.path, source)})
        ),
    )


def _emit_state(run: Run, files: list[StoreFile]) -> None:
    from parsers.dledger.state import read_state

    rows = [asdict(read_state(files, damage=run.damage))] if files else []
    run.emit_rows("current_term i64, vote_leader text, end_index i64, committed_index i64", rows)
