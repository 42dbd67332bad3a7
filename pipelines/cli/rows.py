"""Batches as a parser gives them, to rows of the declared table: origin added, columns in the table's order."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from pipelines.table import Table


def conform(
    batches: Iterable[pa.RecordBatch], schema: pa.Schema, *, file: str | None = None, unknown: Collection[str] = ()
) -> Iterator[pa.RecordBatch]:
    """The same rows under `schema`: `file` filled in; `unknown` columns and those the reader does not give are null."""
    for batch in batches:
        columns = [_column(batch, field, {"file": file}, unknown) for field in schema]
        yield pa.RecordBatch.from_arrays(columns, schema=schema)


def _column(
    batch: pa.RecordBatch, field: pa.Field, origin: dict[str, str | None], unknown: Collection[str]
) -> pa.Array:
    if field.name in unknown:
        return pa.nulls(batch.num_rows, field.type)
    if (value := origin.get(field.name)) is not None:
        return pa.repeat(pa.scalar(value, field.type), batch.num_rows)
    if field.name not in batch.schema.names:
        return pa.nulls(batch.num_rows, field.type)
    column = batch.column(field.name)
    if pa.types.is_dictionary(column.type) and not pa.types.is_dictionary(field.type):
        column = column.dictionary_decode()
    return column if column.type == field.type else column.cast(field.type)


def schema_of(table: Table, *, without: Iterable[str] = ()) -> pa.Schema:
    """The table's schema for output, some columns left out."""
    dropped = set(without)
    return pa.schema([field for field in table.bare_schema if field.name not in dropped])


def place_of(path: Path, root: Path) -> str:
    """The file as rows name it: its path below the store root, its own name when it was given alone."""
    return path.relative_to(root).as_posix() if root in path.parents else path.name
