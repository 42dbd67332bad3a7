"""The columns of `commitlog_messages`: their names and types, without what decodes them."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from parsers.layouts.columns import schema_from

MESSAGE_SCHEMA = schema_from(
    "broker text, file text, physical_offset i64, total_size i32, magic_code i32, body_crc i32, queue_id i32, "
    "flag i32, queue_offset i64, sys_flag i32, born_timestamp time, born_host text, store_timestamp time, "
    "store_host text, reconsume_times i32, prepared_transaction_offset i64, body_size i32, topic text, "
    "properties pairs, keys text, tags text, unique_id text, message_id text, crc_ok flag, transaction_type text, "
    "compression text, record_crc_ok flag"
)
"""Every message column that is made without being asked for. `broker` is null: no file tells its name. A null time is
one outside the years 1 to 9999; a null `crc_ok` was not verified; a null `record_crc_ok` was not verified or the record
carries no CRC of itself."""

EXTRA_SCHEMA = schema_from("tags_code i64, body bytes, body_decompressed bytes")
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
