"""Rows into the Parquet parts of several tables at once, in bounded batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from pipelines.answers.recorded.ownership_rows import BATCH_ROWS, rows_to_batch
from pipelines.lake.delta.parts import Part, PartsWriter
from pipelines.lake.tables.table import Table
from pipelines.objects.place import Place


class TableWriters:
    """Writes rows of several tables as they come; at most BATCH_ROWS and what is added at once wait in memory."""

    def __init__(self, tables: Iterable[Table], root_of: Callable[[str], Place], job: str, source: str) -> None:
        self._source = source
        self._tables = {table.name: table for table in tables}
        self._writers = {name: PartsWriter(table, root_of(name), job) for name, table in self._tables.items()}
        self._waiting: dict[str, list[Any]] = {name: [] for name in self._tables}

    def add(self, name: str, rows: Iterable[Any]) -> None:
        waiting = self._waiting[name]
        waiting.extend(rows)
        if len(waiting) >= BATCH_ROWS:
            self._write(name)

    def close(self) -> dict[str, list[Part]]:
        """The parts of each table; nothing is committed yet."""
        for name in self._tables:
            self._write(name)
        return {name: writer.close() for name, writer in self._writers.items()}

    def _write(self, name: str) -> None:
        if rows := self._waiting[name]:
            self._writers[name].write(rows_to_batch(self._tables[name].bare_schema, rows, self._source))
            self._waiting[name] = []
