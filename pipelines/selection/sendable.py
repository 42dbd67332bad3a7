"""Messages in the form in which a producer can send them again: nothing but what a producer says of a message."""

from __future__ import annotations

import pyarrow as pa

from parsers.commitlog.arrow import MESSAGE_SCHEMA

NEEDED = ("topic", "queue_id", "queue_offset", "born_timestamp", "flag", "tags", "keys", "properties")
BODY = "body_decompressed"
SENDABLE = pa.schema([*(MESSAGE_SCHEMA.field(name) for name in NEEDED), pa.field("body", pa.binary())])
"""`body`: the bytes that the producer handed over. `queue_offset` puts messages of a queue in order again."""


def sendable(batch: pa.RecordBatch) -> tuple[pa.RecordBatch, int]:
    """The messages as `SENDABLE`, and how many were left out because their bodies cannot be decompressed."""
    whole = batch.filter(batch[BODY].is_valid())
    columns = [*(whole[name] for name in NEEDED), whole[BODY]]
    return pa.RecordBatch.from_arrays(columns, schema=SENDABLE), batch.num_rows - whole.num_rows
