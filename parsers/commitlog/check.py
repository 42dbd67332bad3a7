"""Why the bytes at a position are no message of the log: the precise error behind a stopped walk.

Called once for each break, never for each record; `shape.py` finds the breaks.
"""

from __future__ import annotations

from parsers.commitlog.layout import BLANK_SIZE_MIN, MAGIC_BLANK, RECORD_START
from parsers.commitlog.message import Message, decode_message
from parsers.errors import CorruptRecord, StoreFormatError
from parsers.java import crc31
from parsers.layout import Buffer


def check_record(buf: Buffer, at: int, base_offset: int) -> Message:
    """The message at file position `at` of a whole file, its own offset included.

    CRCs are not judged here: a record whose sizes and place are right is a message with a verdict.

    Raises StoreFormatError, `field` naming what disagrees: magic_code, total_size, body_size, topic_size,
        properties_size, physical_offset.
    """
    message = decode_message(buf, at)
    if message.physical_offset != base_offset + at:
        raise CorruptRecord(
            "the record's own offset is another",
            at=at,
            field="physical_offset",
            expected=base_offset + at,
            actual=message.physical_offset,
            length=message.total_size,
        )
    return message


def check_blank(buf: Buffer, at: int) -> StoreFormatError | None:
    """What is wrong with the end-of-file record at `at`: its size is that of the rest of the file."""
    start = RECORD_START.unpack(buf, at)
    left = len(buf) - at
    if start["magic_code"] != MAGIC_BLANK or start["total_size"] == left:
        return None
    return CorruptRecord(
        "the end-of-file record does not reach the file's end",
        at=at,
        field="total_size",
        expected=left,
        actual=start["total_size"],
        length=BLANK_SIZE_MIN,
    )


def body_crc_error(message: Message, at: int) -> CorruptRecord:
    return CorruptRecord(
        "the body is not what its CRC says",
        at=at,
        field="body_crc",
        expected=message.body_crc,
        actual=crc31(message.body),
        length=message.total_size,
    )


def record_crc_error(message: Message, at: int) -> CorruptRecord:
    return CorruptRecord(
        "the record is not what its __CRC32# property says", at=at, field="__CRC32#", length=message.total_size
    )
