"""The columns of `commitlog_messages`: their names and types, without what decodes them."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

TIME = pa.timestamp("us", "UTC")
PAIR = pa.struct([("name", pa.string()), ("value", pa.string())])
MESSAGE_SCHEMA = pa.schema(
    [
        ("broker", pa.string()),
        ("file", pa.string()),
        ("physical_offset", pa.int64()),
        ("total_size", pa.int32()),
        ("magic_code", pa.int32()),
        ("body_crc", pa.int32()),
        ("queue_id", pa.int32()),
        ("flag", pa.int32()),
        ("queue_offset", pa.int64()),
        ("sys_flag", pa.int32()),
        ("born_timestamp", TIME),
        ("born_host", pa.string()),
        ("store_timestamp", TIME),
        ("store_host", pa.string()),
        ("reconsume_times", pa.int32()),
        ("prepared_transaction_offset", pa.int64()),
        ("body_size", pa.int32()),
        ("topic", pa.string()),
        ("properties", pa.list_(pa.field("element", PAIR))),
        ("keys", pa.string()),
        ("tags", pa.string()),
        ("unique_id", pa.string()),
        ("message_id", pa.string()),
        ("crc_ok", pa.bool_()),
        ("transaction_type", pa.string()),
        ("compression", pa.string()),
        ("record_crc_ok", pa.bool_()),
    ]
)
"""Every message column that is made without being asked for. `broker` is null: no file tells its name. A null time is
one outside the years 1 to 9999; a null `crc_ok` was not verified; a null `record_crc_ok` was not verified or the record
carries no CRC of itself."""

EXTRA_SCHEMA = pa.schema([("tags_code", pa.int64()), ("body", pa.binary()), ("body_decompressed", pa.binary())])
"""Columns made only when named: `tags_code` is the hash of TAGS (0 without), also where a delayed message's unit has a
time instead; `body` is as stored; `body_decompressed` is null where it cannot be decompressed or exceeds the cap."""

BODY_VIEW = pa.field("body_view", pa.binary_view())
"""`body` without a copy, by name, for consumers that take the type; no column of the table."""

ALL_COLUMNS = pa.schema([*MESSAGE_SCHEMA, *EXTRA_SCHEMA])


def schema_of(columns: Sequence[str] | None) -> pa.Schema:
    """The schema of the named columns, in the given order; all of MESSAGE_SCHEMA for None. ValueError: no such one."""
    if columns is None:
        return MESSAGE_SCHEMA
    known = {field.name: field for field in (*ALL_COLUMNS, BODY_VIEW)}
    unknown = [name for name in columns if name not in known]
    if unknown:
        raise ValueError(f"no such column: {', '.join(unknown)} (there are {', '.join(known)})")
    return pa.schema([known[name] for name in columns])
