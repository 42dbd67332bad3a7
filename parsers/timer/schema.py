"""The columns of timerlog units, without what reads them."""

from __future__ import annotations

from parsers.layouts.columns import schema_from

TIMER_RECORD_SCHEMA = schema_from(
    "file word, position i64, prev_position i64, is_rolled flag, is_deletion flag, write_time time, delay_ms i32, "
    "due_time time, physical_offset i64, msg_size i32, real_topic_hash i32"
)
