"""Rows of a replay and of logs, as batches of their tables: column by column from attributes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from rebalance.model.message_queue import MessageQueue

if TYPE_CHECKING:
    from rebalance.readers.logs.lines.reader import LogEvent

BATCH_ROWS = 1 << 14
INSTANTS = {"at": "at_ms", "begin_at": "from_ms", "end_at": "to_ms", "last_at": "last_at_ms"}
"""Columns named otherwise than the attribute (epoch ms) they are filled from."""


@dataclass(frozen=True, slots=True)
class LoggedEvent:
    """One row of `log_events`."""

    log: str | None
    at_ms: int
    line: int
    kind: str
    group: str | None
    client_id: str | None
    fields: str
    raw: str


def logged(event: LogEvent, log: str | None) -> LoggedEvent:
    """A recognised line as a row; `log`: which log it is in, by RocketMQ's name of it."""
    return LoggedEvent(
        log,
        event.at_ms,
        event.record,
        event.template.name,
        event.group,
        event.client_id,
        json.dumps(event.named_fields, ensure_ascii=False),
        event.line.decode("utf-8", "replace").rstrip("\r\n"),
    )


def rows_to_batch(schema: pa.Schema, rows: Sequence[Any], source: str | None = None) -> pa.RecordBatch:
    """Rows whose attributes are the columns of `schema`; `source` fills the column of that name, where there is one."""
    columns = [pa.repeat(source, len(rows)) if field.name == "source" else _column(rows, field) for field in schema]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def rows_to_batches(schema: pa.Schema, rows: Iterable[Any]) -> Iterator[pa.RecordBatch]:
    """Turn any number of rows into batches of BATCH_ROWS."""
    left = iter(rows)
    while some := list(islice(left, BATCH_ROWS)):
        yield rows_to_batch(schema, some)


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
