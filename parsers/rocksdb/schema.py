"""The columns of queue units in a database, and their kinds, without what decodes them."""

from __future__ import annotations

from typing import Literal

import pyarrow as pa

from parsers.consumequeue.schema import UNIT_SCHEMA

DatabaseUnitKind = Literal["unit", "stale", "expired"]
DATABASE_UNIT_KINDS: tuple[DatabaseUnitKind, ...] = ("unit", "stale", "expired")
"""`stale`: after the queue's last message, where a truncation leaves units, and where the next ones come.
`expired`: before its first message, until a compaction drops them."""
DATABASE_UNIT_SCHEMA = pa.schema([*UNIT_SCHEMA, ("store_timestamp_ms", pa.int64())])
