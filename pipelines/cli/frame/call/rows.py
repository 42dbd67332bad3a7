"""What the rows of an output are called: the columns of its table, and the file they come from."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from parsers.store.places import name_below, printable_name
from pipelines.cli.frame.call.run import Run

if TYPE_CHECKING:
    import pyarrow as pa

    from pipelines.lake.tables.table import Table


def schema_of(table: Table, *, without: Iterable[str] = ()) -> pa.Schema:
    """The table's schema for output, some columns left out."""
    import pyarrow as pa

    dropped = set(without)
    return pa.schema([field for field in table.bare_schema if field.name not in dropped])


def emit_rows_of(run: Run, table: Table, rows: Iterable[dict[str, Any]], brief: tuple[str, ...]) -> None:
    """Write rows of a table of the lake. Which broker they are of, a store does not say."""
    run.emit_rows(schema_of(table, without=["broker"]), rows, brief=brief)


def emit_batches_of(run: Run, table: Table, batches: Iterable[pa.RecordBatch], brief: tuple[str, ...]) -> None:
    """Write batches of a table of the lake. Which broker they are of, a store does not say."""
    schema = schema_of(table, without=["broker"])
    run.emit(schema, (batch.select(schema.names) for batch in batches), brief=brief)


def emit_sums(run: Run, sums: pa.Table, brief: tuple[str, ...], counters: Iterable[str]) -> None:
    """Write what such rows add up to; a table shows, besides the brief columns, the counters that are not 0."""
    of_store = sums.drop_columns(["broker"])
    run.emit(of_store.schema, of_store.to_batches(), brief=with_counts(brief, of_store, counters))


def place_of(path: Path, root: Path) -> str:
    """The file as rows name it: by `name_below` in a store, by its own name when it was given alone."""
    return printable_name(path.name if path == root else name_below(root, path))


def with_counts(brief: tuple[str, ...], sums: pa.Table, counters: Iterable[str]) -> tuple[str, ...]:
    """The columns of a summary that a table shows: those named, and each counter that is not 0 in some row."""
    import pyarrow.compute as pc

    return (*brief, *(name for name in counters if pc.any(pc.not_equal(sums[name], 0)).as_py()))
