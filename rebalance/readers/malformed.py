"""Why a record that somebody wrote cannot be read, in words about the record."""

from __future__ import annotations

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
