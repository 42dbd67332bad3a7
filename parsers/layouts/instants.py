"""Java's epoch milliseconds as Arrow instants."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from parsers.layouts.columns import TIMESTAMP
from parsers.values.java import LONG_MAX

MAX_MS = LONG_MAX // 1000


def instants(values_ms: Iterable[int | None]) -> pa.Array:
    """UTC instants in microseconds; null where there is none, or where it lies beyond what Arrow counts."""
    micros = (None if ms is None or abs(ms) > MAX_MS else ms * 1000 for ms in values_ms)
    return pa.array(list(micros), pa.int64()).cast(TIMESTAMP)
