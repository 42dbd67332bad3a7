"""The properties string of a message: `name 0x01 value`, entries separated by 0x02; and the record's CRC at its end.

Two parsers have existed. They differ for empty values and for values that contain 0x01, never for what a client of
RocketMQ writes by itself. Source: MessageDecoder#string2messageProperties, #messageProperties2String.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from parsers.values import java
from parsers.values.java import crc31

NAME_VALUE_SEPARATOR = "\x01"
PROPERTY_SEPARATOR = "\x02"
PropertyRule = Literal["split", "first_separator"]
"""`split`: up to 4.9.0, exactly two pieces. `first_separator`: since 4.9.1, the value is all after the first 0x01."""

KEYS = "KEYS"
TAGS = "TAGS"
UNIQ_KEY = "UNIQ_KEY"
DELAY = "DELAY"

Pairs = list[tuple[str, str]]
NAME = b"__CRC32#\x01"
DIGITS = 10
RESERVED_SIZE = len(NAME) + DIGITS + 1
"""Bytes at the end of a record that hold the property and its 0x02: 20. The CRC is over everything before them."""


def decode_properties(stored: bytes | memoryview, rule: PropertyRule = "first_separator") -> Pairs:
    """The pairs that the broker of that rule reads, in stored order, duplicates kept (the map keeps the last)."""
    entries = java.decode_utf8(stored).split(PROPERTY_SEPARATOR)
    if rule == "split":
        return [pair for pair in map(_split, entries) if pair is not None]
    parted = (entry.partition(NAME_VALUE_SEPARATOR) for entry in entries)
    return [(name, value) for name, _, value in parted if name and value]


def encode_properties(pairs: Iterable[tuple[str, str]], *, trailing_separator: bool = True) -> bytes:
    """The stored form. `trailing_separator`: 4.9.1 to 5.1.4 leave the last 0x02 out, all others write it."""
    entries = [name + NAME_VALUE_SEPARATOR + value for name, value in pairs]
    text = PROPERTY_SEPARATOR.join(entries)
    return (text + PROPERTY_SEPARATOR if entries and trailing_separator else text).encode("utf-8", "replace")


def last_value(pairs: Pairs, name: str) -> str | None:
    """What the broker's map holds under `name`: the last of several, None without one."""
    return next((value for found, value in reversed(pairs) if found == name), None)


def _split(entry: str) -> tuple[str, str] | None:
    pieces = entry.rstrip(NAME_VALUE_SEPARATOR).split(
        NAME_VALUE_SEPARATOR
    )  # String.split drops empty pieces at the end
    return (pieces[0], pieces[1]) if len(pieces) == 2 else None


def decode_record_crc(record: bytes | memoryview) -> int | None:
    """The CRC of the whole record, its last property (`enabledAppendPropCRC`, since 5.2.0).

    None when it carries none or its digits are no number.
    Source: MessageDecoder#createCrc32, CommitLog#doAppend, #checkMessageAndReturnSize @5.3.3.
    """
    tail = bytes(record[-RESERVED_SIZE:])
    digits = tail[len(NAME) : -1]
    if len(tail) < RESERVED_SIZE or not tail.startswith(NAME) or not digits.isdigit():
        return None
    return int(digits[::-1])


def encode_record_crc(crc: int) -> bytes:
    """The 20 reserved bytes: least significant digit first, padded with `0` on the right (123 is `3210000000`)."""
    return NAME + str(crc)[::-1].ljust(DIGITS, "0").encode() + b"\x02"


def record_crc_ok(record: bytes | memoryview) -> bool | None:
    """Whether the record is what its writer wrote; None when it carries no CRC of itself."""
    if bytes(record[-RESERVED_SIZE:][: len(NAME)]) != NAME:
        return None
    return decode_record_crc(record) == crc31(record[:-RESERVED_SIZE])
