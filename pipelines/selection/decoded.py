"""Messages that brokers and clients write for themselves, as rows of what they say: a row a record."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

import pyarrow as pa

from parsers.commitlog.batches.schema import MESSAGE_SCHEMA
from parsers.damage.errors import StoreFormatError
from parsers.explain.line import instant_text
from parsers.messages.declared import Record, Value
from parsers.messages.kinds import KINDS, decoded

BODY = "body_decompressed"
PLACES = ("physical_offset", "topic", "queue_id", "queue_offset", "store_timestamp")
NEEDED = (*PLACES, "properties", BODY)
DECODED = pa.schema(
    [
        *(MESSAGE_SCHEMA.field(name) for name in PLACES),
        pa.field("kind", pa.string(), nullable=False),
        pa.field("record_no", pa.int32(), nullable=False),
        MESSAGE_SCHEMA.field("properties").with_name("fields"),
        pa.field("said", pa.string(), nullable=False),
    ]
)
"""`fields`: name and value of each field that the record has, numbers and times as digits; `said`: the same to read,
times as instants. `record_no` counts the records of a message from 0."""

TIMES = frozenset(field.name for kind in KINDS for field in kind.fields if field.form == "time_ms")
MOST_ROWS = 1 << 14
"""The most rows of one batch: a single op message may have half a thousand records, a batch of them a million."""
Unread = Callable[[int, str, StoreFormatError], None]
"""Gets the physical offset of a message, the kind that it should be, and why it is not."""


def decoded_rows(batch: pa.RecordBatch, unread: Unread) -> Iterator[pa.RecordBatch]:
    """The records of the messages of a batch as `DECODED`; applications' own messages have none."""
    rows = _rows(batch, unread)
    while part := list(islice(rows, MOST_ROWS)):
        yield pa.RecordBatch.from_pylist(part, schema=DECODED)


def _rows(batch: pa.RecordBatch, unread: Unread) -> Iterator[dict[str, object]]:
    places = [batch.column(name) for name in PLACES]
    properties, bodies = batch.column("properties"), batch.column(BODY)
    topics = batch.column("topic")
    for row in range(batch.num_rows):
        named = {pair["name"]: pair["value"] for pair in properties[row].as_py() or ()}
        found = decoded(topics[row].as_py(), named, bodies[row].as_py())
        at = places[0][row].as_py()
        for kind, why in found.problems:
            unread(at, kind, why)
        place = {name: column[row] for name, column in zip(PLACES, places, strict=True)} if found.records else {}
        for record in found.records:
            yield {**place, "kind": record.kind, "record_no": record.record_no, **_fields(record)}


def _fields(record: Record) -> dict[str, object]:
    known = {name: value for name, value in record.values.items() if value is not None}
    said = (f"{name}={_instant(name, value)}" for name, value in known.items())
    return {"fields": [(name, _text(value)) for name, value in known.items()], "said": " ".join(said)}


def _instant(name: str, value: Value) -> str:
    return instant_text(value) if name in TIMES and isinstance(value, int) else _text(value)


def _text(value: Value) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)
