"""The CRC of a whole record, kept as the last property (`enabledAppendPropCRC`, since 5.2.0).

Source: MessageDecoder#createCrc32, CommitLog#doAppend, #checkMessageAndReturnSize @5.3.3.
"""

from __future__ import annotations

from parsers.values.java import crc31

NAME = b"__CRC32#\x01"
DIGITS = 10
RESERVED_SIZE = len(NAME) + DIGITS + 1
"""Bytes at the end of a record that hold the property and its 0x02: 20. The CRC is over everything before them."""


def decode_record_crc(record: bytes | memoryview) -> int | None:
    """The CRC that a whole record carries, None when it carries none or its digits are no number."""
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
