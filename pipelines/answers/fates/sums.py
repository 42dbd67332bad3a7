"""Sums over rows of tables, as a question of the lake (`pipelines/lake/sql/`) asks for them."""

from __future__ import annotations

from collections.abc import Iterable

import duckdb
import pyarrow as pa

from pipelines.lake.questions import question
from pipelines.lake.tables.table import Table


def summed(asked: str, *rows: tuple[Table, Iterable[pa.RecordBatch] | pa.Table], now_ms: int | None = None) -> pa.Table:
    """The answer of a question over rows of the tables that it reads; with `now_ms` as of that instant.

    Batches pass once: a table that the question reads more than once is handed over whole.
    """
    with duckdb.connect() as database:
        database.execute("SET TimeZone = 'UTC'")
        for table, batches in rows:
            whole = isinstance(batches, pa.Table)
            database.register(
                table.name, batches if whole else pa.RecordBatchReader.from_batches(table.bare_schema, batches)
            )
        if now_ms is not None:
            database.execute("SET VARIABLE now_ms = CAST(? AS BIGINT)", [now_ms])
        return database.sql(question(asked)).to_arrow_table()
