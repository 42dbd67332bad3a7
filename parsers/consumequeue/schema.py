"""The columns of ConsumeQueue units and of ext units, without what decodes them."""

from __future__ import annotations

import pyarrow as pa

from parsers.layouts.constants import NAME

UNIT_SCHEMA = pa.schema(
    [
        ("topic", NAME),
        ("queue_id", pa.int32()),
        ("queue_offset", pa.int64()),
        ("physical_offset", pa.int64()),
        ("msg_size", pa.int32()),
        ("tags_code", pa.int64()),
        ("kind", NAME),
        ("tags_code_kind", NAME),
    ]
)
EXT_UNIT_SCHEMA = pa.schema(
    [
        ("topic", pa.string()),
        ("queue_id", pa.int32()),
        ("file_pos", pa.int64()),
        ("ext_address", pa.int64()),
        ("tags_code", pa.int64()),
        ("store_timestamp_ms", pa.int64()),
        ("bit_map", pa.binary()),
    ]
)
