"""Why a record that somebody wrote cannot be read, in words about the record."""

from __future__ import annotations

from collections.abc import Mapping

MALFORMED = (KeyError, TypeError, ValueError, AttributeError, OverflowError)
"""What reading a record of another form than expected ends with; the last of them: 1e999 as a whole number."""


class Malformed(ValueError):
    """A field has a value that it cannot have: one sentence."""


def why_not_read(error: Exception) -> str:
    """The reason of an `UnreadRecord` for one of MALFORMED."""
    if isinstance(error, Malformed):
        return str(error)
    if isinstance(error, KeyError) and error.args:
        return f"the field {error.args[0]} is missing"
    if isinstance(error, OverflowError):
        return "a number is larger than any that RocketMQ writes"
    return "a field has another form than RocketMQ gives it"


def instant_of_any(record: object) -> int:
    """The instant `ts` of whatever was read for a record; 0 of what has none."""
    instant = record.get("ts") if isinstance(record, Mapping) else None
    return instant if isinstance(instant, int) else 0
