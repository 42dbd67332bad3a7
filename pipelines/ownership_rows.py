"""Rows of a replay and of logs, as batches of their tables: column by column from attributes, in bounded batches."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from pipelines.delta import Part, PartsWriter
from pipelines.table import Table
from rebalance.model import MessageQueue

if TYPE_CHECKING:
    from rebalance.logs.reader import LogEvent

BATCH_ROWS = 1 << 14
INSTANTS = {"at": "at_ms", "begin_at": "from_ms", "end_at": "to_ms", "last_at": "last_at_ms"}
"""Columns named otherwise than the attribute (epoch ms) they are filled from."""


@dataclass(frozen=True, slots=True)
class LoggedEvent:
    """One row of `log_events`."""

    at_ms: int
    line: int
    kind: str
    group: str | None
    client_id: str | None
    fields: str
    raw: str


def logged(event: LogEvent) -> LoggedEvent:
    """A recognised line as a row."""
    return LoggedEvent(
        event.at_ms,
        event.record,
        event.template.name,
        event.group,
        event.client_id,
        json.dumps(event.named_fields, ensure_ascii=False),
        event.line.decode("utf-8", "replace").rstrip("\r\n"),
    )


def rows_to_batch(table: Table, rows: Sequence[Any], source: str) -> pa.RecordBatch:
    """Rows whose attributes are the columns of `table`, all of one source."""
    columns = [
        pa.repeat(source, len(rows)) if field.name == "source" else _column(rows, field) for field in table.bare_schema
    ]
    return pa.RecordBatch.from_arrays(columns, schema=table.bare_schema)


def _column(rows: Sequence[Any], field: pa.Field) -> pa.Array:
    values = list(map(attrgetter(INSTANTS.get(field.name, field.name)), rows))
    if pa.types.is_timestamp(field.type):
        return _instants(values, field.type)
    if pa.types.is_list(field.type):
        return _lists(values, field.type)
    if pa.types.is_string(field.type):
        return _texts(values)
    return pa.array(values, field.type)


def _texts(values: list[str | None]) -> pa.Array:
    try:
        return pa.array(values, pa.string())
    except UnicodeEncodeError:  # half of a surrogate pair, from JSON
        return pa.array([None if text is None else text.encode("utf-8", "backslashreplace") for text in values]).cast(
            pa.string()
        )


def _instants(values: list[int | None], kind: pa.DataType) -> pa.Array:
    """Epoch ms as instants; what no calendar holds is null."""
    try:
        return pa.array(values, pa.int64()).cast(pa.timestamp("ms", kind.tz)).cast(kind)
    except (OverflowError, pa.ArrowInvalid):
        held = range(-(1 << 63) // 1000 + 1, (1 << 63) // 1000)
        return _instants([ms if ms is not None and ms in held else None for ms in values], kind)


def _lists(values: list[tuple[str | MessageQueue, ...] | None], kind: pa.DataType) -> pa.Array:
    """Lists repeat from row to row: each is made once."""
    known = {value: number for number, value in enumerate(dict.fromkeys(values))}
    texts = [None if value is None else [_text_of(part) for part in value] for value in known]
    return pa.array(texts, kind).take(pa.array(list(map(known.__getitem__, values)), pa.int32()))


def _text_of(part: str | MessageQueue) -> str:
    return part if isinstance(part, str) else f"{part.broker_name}:{part.queue_id}"


class TableWriters:
    """Writes rows of several tables as they come; at most BATCH_ROWS and what is added at once wait in memory."""

    def __init__(self, tables: Iterable[Table], root_of: Callable[[str], Path], source: str) -> None:
        self._source = source
        self._tables = {table.name: table for table in tables}
        self._writers = {name: PartsWriter(table, root_of(name)) for name, table in self._tables.items()}
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
            self._writers[name].write(rows_to_batch(self._tables[name], rows, self._source))
            self._waiting[name] = []
