"""Java's epoch milliseconds as times in UTC."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECOND = timedelta(milliseconds=1)
FIRST_MS, LAST_MS = -62_135_596_800_000, 253_402_300_799_999
"""Epoch milliseconds of the years 1 to 9999: what the calendar holds."""


def utc(epoch_ms: int | None) -> datetime | None:
    """Epoch milliseconds as a time in UTC; None for what the calendar cannot hold."""
    try:
        return None if epoch_ms is None else EPOCH + epoch_ms * MILLISECOND
    except OverflowError:
        return None


def utc_text(epoch_ms: int) -> str:
    """Epoch milliseconds as a sentence names them, to the second; as they are where the calendar cannot hold them."""
    at = utc(epoch_ms)
    return str(epoch_ms) if at is None else f"{at:%F %T}Z"


def epoch_ms(at: datetime | None) -> int | None:
    """A time as epoch milliseconds; None stays None."""
    return None if at is None else (at - EPOCH) // MILLISECOND
