"""The columns of ConsumeQueue units and of ext units, without what decodes them."""

from __future__ import annotations

from parsers.layouts.columns import schema_from

UNIT_SCHEMA = schema_from(
    "topic word, queue_id i32, queue_offset i64, physical_offset i64, msg_size i32, tags_code i64, kind word, "
    "tags_code_kind word"
)
EXT_UNIT_SCHEMA = schema_from(
    "topic text, queue_id i32, file_pos i64, ext_address i64, tags_code i64, store_timestamp_ms i64, bit_map bytes"
)
