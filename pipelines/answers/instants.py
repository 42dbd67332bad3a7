"""Instants as users write them, instants as JSON shows them."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from parsers.values.java import LONG_MAX, LONG_MIN
from parsers.values.utc import EPOCH, FIRST_MS, LAST_MS, MILLISECOND

AGO = re.compile(r"-([0-9]{1,9})([smhd])")
UNIT_MS = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
TIME_OF_DAY = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9]))?")
SECONDS = re.compile(r"[1-9][0-9]{9}")
"""Epoch seconds of 2001 to 2286; as milliseconds they lie in the first months of 1970, when no message was stored."""
LONG_DIGITS = re.compile(r"-?[0-9]{1,19}")


def hour_of(at: datetime) -> datetime:
    """The full hour in which an instant lies, its beginning.

    What a lake's tables tell by the clock holds as of that: within one hour they are made the same however often, also
    while it is the hour of `deleteWhen`, in which a cleaner deletes at any instant.
    """
    return at.replace(minute=0, second=0, microsecond=0)


def parse_instant(text: str) -> int:
    """Epoch milliseconds of `1795273632813`, `2026-11-21T13:05:00.123Z`, `2026-11-21 13:05` or `2026-11-21`.

    A time without zone is UTC.

    Raises:
        ValueError: none of these forms, epoch seconds, or a year after 9999.
    """
    text = text.strip()
    if SECONDS.fullmatch(text):
        raise ValueError(f"{text} are epoch seconds; epoch milliseconds are asked for: {text}000")
    if re.fullmatch(r"-?[0-9]{1,18}", text) and FIRST_MS <= int(text) <= LAST_MS:
        return int(text)
    try:
        instant = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{text!r} is not a time (epoch milliseconds, or 2026-11-21T13:05:00.123Z)") from None
    if instant.tzinfo is None:
        instant = instant.replace(tzinfo=UTC)
    return (instant - EPOCH) // MILLISECOND


def parse_relative(text: str, now_ms: int) -> int | None:
    """Epoch milliseconds of `now`, of `-90s`, `-15m`, `-1h` or `-2d`, and of `03:12` or `03:12:05`; None of others.

    A time of day is its last occurrence up to now, in UTC.
    """
    text = text.strip()
    if text == "now":
        return now_ms
    if ago := AGO.fullmatch(text):
        return now_ms - int(ago[1]) * UNIT_MS[ago[2]]
    if at := TIME_OF_DAY.fullmatch(text):
        day = now_ms - now_ms % UNIT_MS["d"]
        instant = day + int(at[1]) * UNIT_MS["h"] + int(at[2]) * UNIT_MS["m"] + int(at[3] or 0) * UNIT_MS["s"]
        return instant if instant <= now_ms else instant - UNIT_MS["d"]
    return None


def parse_broker_instant(text: str) -> int:
    """Parse an instant, or any Java long: the largest of them is a broker's own "for ever".

    Raises:
        ValueError: neither.
    """
    if LONG_DIGITS.fullmatch(text.strip()) and LONG_MIN <= int(text) <= LONG_MAX:
        return int(text)
    return parse_instant(text)


def iso_instant(epoch_ms: int | None) -> str | None:
    """ISO 8601 UTC with milliseconds; None stays None; what the calendar cannot hold stays a number."""
    if epoch_ms is None:
        return None
    try:
        instant = EPOCH + epoch_ms * MILLISECOND
    except OverflowError:
        return str(epoch_ms)
    return instant.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"  # strftime has no zeros before a year
