"""The columns of messages in the log of a compacted queue, without what decodes them."""

from __future__ import annotations

import pyarrow as pa

from parsers.commitlog.batches.schema import MESSAGE_SCHEMA

POSITION = "physical_offset"
NOT_KEPT = ("broker", "message_id", "record_crc_ok")
"""A copy has no place in the CommitLog: its message id is none, and its __CRC32# is that of the original."""


def _as_copy(field: pa.Field) -> pa.Field:
    return field.with_name("position") if field.name == POSITION else field


COPY_SCHEMA = pa.schema([_as_copy(field) for field in MESSAGE_SCHEMA if field.name not in NOT_KEPT])
"""Columns of MESSAGE_SCHEMA that say something of a copy; `position` is the byte in the log of its queue."""
