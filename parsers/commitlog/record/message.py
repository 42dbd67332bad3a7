"""One message record, read and written field by field: the reference for the vectorised decoder.

`encode_message(decode_message(buf, at))` gives back the bytes, whatever they are: sizes that count as none (zero or
negative) and text that is not UTF-8 are kept as stored.
Source: MessageDecoder#decode, MessageExtEncoder#encode, CommitLog#checkMessageAndReturnSize @5.3.3.
"""

from __future__ import annotations

from dataclasses import dataclass

from parsers.commitlog.record.host import PORT_SIZE, Host, decode_host, encode_host, encode_message_id
from parsers.commitlog.record.layout import (
    HEAD,
    MAGIC_V1,
    MAGIC_V2,
    RECORD_START,
    SMALLEST_MESSAGE,
    STORE_TIME,
    TAIL,
    Parts,
    compression,
    parts,
    transaction_type,
)
from parsers.commitlog.record.properties import (
    RESERVED_SIZE,
    Pairs,
    PropertyRule,
    decode_properties,
    last_value,
    record_crc_ok,
)
from parsers.damage.errors import CorruptRecord, NotThisFormat, TruncatedRecord
from parsers.layouts.layout import Buffer
from parsers.values.java import crc31, decode_utf8


@dataclass(frozen=True, slots=True)
class Message:
    """Every field of a record as stored. `topic_stored`, `properties_stored` and `body` are the counted bytes."""

    total_size: int
    magic_code: int
    body_crc: int
    queue_id: int
    flag: int
    queue_offset: int
    physical_offset: int
    sys_flag: int
    born_timestamp_ms: int
    born_host: Host
    store_timestamp_ms: int
    store_host: Host
    reconsume_times: int
    prepared_transaction_offset: int
    body_size: int
    body: bytes
    topic_size: int
    topic_stored: bytes
    properties_size: int
    properties_stored: bytes

    @property
    def topic(self) -> str:
        return decode_utf8(self.topic_stored)

    def properties(self, rule: PropertyRule = "first_separator") -> Pairs:
        """Name and value in stored order, duplicates kept."""
        return decode_properties(self.properties_stored, rule)

    def property_value(self, name: str) -> str | None:
        """The last one stored under `name`, as the broker's map holds it."""
        return last_value(self.properties(), name)

    @property
    def message_id(self) -> str:
        """The offset message id."""
        return encode_message_id(self.store_host, self.physical_offset)

    @property
    def body_crc_ok(self) -> bool:
        """The body is what was stored. Writers give a record without a body the CRC 0; brokers do not look there."""
        return crc31(self.body) == self.body_crc

    @property
    def record_crc_ok(self) -> bool | None:
        """The whole record is what was stored (`__CRC32#`); None when it carries no such CRC."""
        return record_crc_ok(encode_message(self)) if self.properties_size >= RESERVED_SIZE else None

    @property
    def transaction_type(self) -> str:
        return transaction_type(self.sys_flag)

    @property
    def compression(self) -> str | None:
        return compression(self.sys_flag)


def decode_message(buf: Buffer, at: int = 0) -> Message:
    """The message record that starts at byte `at`.

    CRCs and the record's own offset are not judged here: see `Message.body_crc_ok` and `check.py`.

    Raises:
        TruncatedRecord: fewer bytes are left than the record says or needs.
        NotThisFormat: no magic of a message (a blank included).
        CorruptRecord: the sizes inside do not add up to `total_size`.
    """
    start = RECORD_START.unpack(buf, at)
    total_size, magic_code = start["total_size"], start["magic_code"]
    if magic_code not in (MAGIC_V1, MAGIC_V2):
        raise NotThisFormat(
            "no message starts here", at=at, field="magic_code", actual=f"{magic_code & 0xFFFFFFFF:#010x}"
        )
    if total_size < SMALLEST_MESSAGE:
        raise CorruptRecord(
            "smaller than any message", at=at, field="total_size", expected=f"≥ {SMALLEST_MESSAGE}", actual=total_size
        )
    if total_size > len(buf) - at:
        raise TruncatedRecord(
            "the record goes on beyond the last byte",
            at=at,
            field="total_size",
            expected=total_size,
            actual=len(buf) - at,
            length=len(buf) - at,
        )
    try:
        return _decode_parts(memoryview(buf)[at : at + total_size], magic_code, at)
    except TruncatedRecord as missing:
        raise CorruptRecord(
            "the sizes inside go beyond the record", at=at, field="total_size", actual=total_size, length=total_size
        ) from missing


def _decode_parts(record: memoryview, magic_code: int, at: int) -> Message:
    row = HEAD.unpack(record)
    form = parts(magic_code, row["sys_flag"])
    store_time_at = HEAD.size + form.born_host.size
    store_host_at = store_time_at + STORE_TIME.size
    tail_at = store_host_at + form.store_host.size
    row |= STORE_TIME.unpack(record, store_time_at) | TAIL.unpack(record, tail_at)
    pos = tail_at + TAIL.size
    body, pos = _counted(record, pos, "body_size", row["body_size"], at)
    row |= form.topic_size.unpack(record, pos)
    topic, pos = _counted(record, pos + form.topic_size.size, "topic_size", row["topic_size"], at)
    if row["topic_size"] < 0:
        raise CorruptRecord("a negative size of topic", at=at, field="topic_size", actual=row["topic_size"])
    row |= form.properties_size.unpack(record, pos)
    properties, pos = _counted(record, pos + form.properties_size.size, "properties_size", row["properties_size"], at)
    if pos != len(record):
        raise CorruptRecord(
            "the sizes inside do not add up", at=at, field="total_size", expected=pos, actual=len(record)
        )
    return Message(
        **row,
        born_host=decode_host(record, form.born_host, HEAD.size),
        store_host=decode_host(record, form.store_host, store_host_at),
        body=body,
        topic_stored=topic,
        properties_stored=properties,
    )


def _counted(record: memoryview, at: int, field: str, size: int, record_at: int) -> tuple[bytes, int]:
    """`size` bytes from `at` (none when not positive), and where they end."""
    end = at + max(size, 0)
    if end > len(record):
        raise CorruptRecord(
            "goes beyond its record", at=record_at, field=field, expected=f"≤ {len(record) - at}", actual=size
        )
    return bytes(record[at:end]), end


def encode_message(message: Message) -> bytes:
    """The record as the broker writes it. Raises ValueError where sizes and bytes of the message do not agree."""
    form = parts(message.magic_code, message.sys_flag)
    _check_sizes(message, form)
    row = {name: getattr(message, name) for name in ROW_FIELDS}
    return b"".join(
        (
            form.head.pack(row),
            encode_host(message.born_host),
            form.store_time.pack(row),
            encode_host(message.store_host),
            form.tail.pack(row),
            message.body,
            form.topic_size.pack(row),
            message.topic_stored,
            form.properties_size.pack(row),
            message.properties_stored,
        )
    )


def _check_sizes(message: Message, form: Parts) -> None:
    counted = ((message.body, message.body_size), (message.topic_stored, message.topic_size))
    for stored, size in (*counted, (message.properties_stored, message.properties_size)):
        if len(stored) != max(size, 0):
            raise ValueError(f"{len(stored)} bytes where the size says {size}")
    for host, layout in ((message.born_host, form.born_host), (message.store_host, form.store_host)):
        if len(host.address) + PORT_SIZE != layout.size:
            raise ValueError(f"sysFlag {message.sys_flag:#x} does not fit the address of {host.text}")
    if message.total_size != form.total_size(message.body_size, message.topic_size, message.properties_size):
        raise ValueError(f"total_size {message.total_size} is not the sum of the parts")


ROW_FIELDS = (
    "total_size",
    "magic_code",
    "body_crc",
    "queue_id",
    "flag",
    "queue_offset",
    "physical_offset",
    "sys_flag",
    "born_timestamp_ms",
    "store_timestamp_ms",
    "reconsume_times",
    "prepared_transaction_offset",
    "body_size",
    "topic_size",
    "properties_size",
)
