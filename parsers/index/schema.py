"""The columns of index entries and index files, without what reads them."""

from __future__ import annotations

import pyarrow as pa

from parsers.index.layout import INDEX_HEADER
from parsers.layouts.constants import NAME

INDEX_ENTRY_SCHEMA = pa.schema(
    [
        ("file", NAME),
        ("entry_no", pa.int32()),
        ("key_hash", pa.int32()),
        ("physical_offset", pa.int64()),
        ("time_diff_s", pa.int32()),
        ("prev_index_no", pa.int32()),
        ("slot", pa.int32()),
    ]
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
