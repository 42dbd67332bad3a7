"""Batches as a parser gives them, to rows of a declared table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

Constants = Mapping[str, str | int | None]
"""Columns with one value in every row: where the rows come from, what is not known of them."""


def conform(
    batches: Iterable[pa.RecordBatch], schema: pa.Schema, constants: Constants | None = None
) -> Iterator[pa.RecordBatch]:
    """Bring rows under `schema`: its columns in its order and types; what neither a batch nor `constants`, which
    come first, has is null."""
    import pyarrow as pa

    for batch in batches:
        arrays = [_column(batch, field, constants or {}) for field in schema]
        yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def _column(batch: pa.RecordBatch, field: pa.Field, constants: Constants) -> pa.Array:
    import pyarrow as pa

    if field.name in constants:
        value = constants[field.name]
        whole = None if value is None else pa.scalar(value, field.type)
        return pa.nulls(batch.num_rows, field.type) if whole is None else pa.repeat(whole, batch.num_rows)
    if field.name not in batch.schema.names:
        return pa.nulls(batch.num_rows, field.type)
    column = batch.column(field.name)
    return column if column.type == field.type else column.cast(field.type)
