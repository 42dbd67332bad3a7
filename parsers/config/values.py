"""Values of a config file as the type their field has; None where they are missing or something else."""

from __future__ import annotations

from parsers.layouts.fastjson import Json, whole_number
from parsers.values.java import INT_MAX, INT_MIN


def int32(value: Json | None) -> int | None:
    number = whole_number(value)
    return number if number is not None and INT_MIN <= number <= INT_MAX else None


def int64(value: Json | None) -> int | None:
    return whole_number(value)


def flag(value: Json | None) -> bool | None:
    return value if isinstance(value, bool) else None


def text(value: Json | None) -> str | None:
    return value if isinstance(value, str) else None
