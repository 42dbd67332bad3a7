"""The columns of timerlog units, without what reads them."""

from __future__ import annotations

import pyarrow as pa

from parsers.layouts.constants import NAME
from parsers.layouts.instants import INSTANT

TIMER_RECORD_SCHEMA = pa.schema(
    [
        ("file", NAME),
        ("position", pa.int64()),
        ("prev_position", pa.int64()),
        ("is_rolled", pa.bool_()),
        ("is_deletion", pa.bool_()),
        ("write_time", INSTANT),
        ("delay_ms", pa.int32()),
        ("due_time", INSTANT),
        ("physical_offset", pa.int64()),
        ("msg_size", pa.int32()),
        ("real_topic_hash", pa.int32()),
    ]
)
