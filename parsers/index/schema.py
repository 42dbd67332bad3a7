"""The columns of index entries and index files, without what reads them."""

from __future__ import annotations

import pyarrow as pa

from parsers.index.layout import INDEX_HEADER
from parsers.layouts.columns import schema_from

INDEX_ENTRY_SCHEMA = schema_from(
    "file word, entry_no i32, key_hash i32, physical_offset i64, time_diff_s i32, prev_index_no i32, slot i32"
)
INDEX_FILE_SCHEMA = pa.schema(
    [
        ("file", pa.string()),
        ("file_size", pa.int64()),
        *((field.name, pa.int64() if field.width == 8 else pa.int32()) for field in INDEX_HEADER.fields),
        ("entries", pa.int32()),
        ("hash_slots", pa.int32()),
        ("max_entries", pa.int32()),
        ("geometry_known", pa.string()),
    ]
)
