"""Why the bytes at a position are no message of the log: the precise error behind a stopped walk.

Called once for each break, never for each record; `compiled/shape.py` finds the breaks.
"""

from __future__ import annotations

from parsers.commitlog.dledger_headers.entry import check_blank as check_entry_blank
from parsers.commitlog.dledger_headers.entry import check_header
from parsers.commitlog.record.layout import BLANK_SIZE_MIN, MAGIC_BLANK, RECORD_START
from parsers.commitlog.record.message import Message, decode_message
from parsers.damage.errors import CorruptRecord, StoreFormatError
from parsers.layouts.layout import Buffer
from parsers.values.java import crc31


def check_record(buf: Buffer, at: int, base_offset: int, header: int = 0) -> Message:
    """The message of the record at file position `at` of a whole file, its own offset included.

    `header`: bytes before the message, those of a DLedger entry's header, which is checked, too.

    CRCs are not judged here: a record whose sizes and place are right is a message with a verdict.

    Raises StoreFormatError, `field` naming what disagrees: magic_code, total_size, body_size, topic_size,
        properties_size, physical_offset; or what `check_header` names.
    """
    if header:
        check_header(buf, at, base_offset)
    message_at = at + header
    message = decode_message(buf, message_at)
    if message.physical_offset != base_offset + message_at:
        raise CorruptRecord(
            "the record's own offset is another",
            at=message_at,
            field="physical_offset",
            expected=base_offset + message_at,
            actual=message.physical_offset,
            length=message.total_size,
        )
    return message


def check_blank(buf: Buffer, at: int, header: int = 0) -> StoreFormatError | None:
    """What is wrong with the end-of-file record at `at`: its size is that of the rest of the file."""
    if header:
        return check_entry_blank(buf, at)
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


def wrong_crc(buf: Buffer, at: int, header: int = 0) -> CorruptRecord:
    """Which CRC of the record at `at`, which has a wrong one, it is."""
    message = decode_message(buf, at + header)
    return record_crc_error(message, at) if message.body_crc_ok else body_crc_error(message, at)
