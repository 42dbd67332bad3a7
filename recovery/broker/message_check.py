"""Is there a valid message at this byte? Recovery and dispatch ask it record by record; each version answers its way.

The readable form; `recovery/broker/message_check_kernel.py` walks whole files under the same tests.
Source: CommitLog#checkMessageAndReturnSize @4.9.8, 5.3.1, 5.3.3, 5.5.1.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from parsers.commitlog.dledger_headers import layout as entries
from parsers.commitlog.record.layout import MAGIC_BLANK, MAGIC_V1, MAGIC_V2, RECORD_START, Parts, parts
from parsers.commitlog.record.properties import RESERVED_SIZE, PropertyRule, decode_properties
from parsers.damage.errors import StoreFormatError
from parsers.layouts.layout import Layout
from parsers.values.java import INT_MAX, INT_MIN, LONG_MAX, LONG_MIN, crc31, decode_utf8, split, to_int
from parsers.values.topics import SCHEDULE_TOPIC
from recovery.rules.dispatch import SHORT_MAX, SHORT_MIN, DispatchRequest, InvalidForDispatch, parse_number
from recovery.rules.passing_settings import PassedBy
from recovery.rules.settings import StoreSettings
from recovery.rules.versions import BrokerVersion

REUSED_BUFFER_CAP = 1 << 20
"""maxCheckMessageReuseBufferSize: larger records get a buffer of their own (5.5.1)."""


SIZE_FIELD, MAGIC_FIELD = (
    Layout(f"{RECORD_START.title}: {part.name}", RECORD_START.source, part) for part in RECORD_START.fields
)


class OutOfHeap(Exception):
    """`new byte[size]` with the size field of a record: OutOfMemoryError is no Exception and leaves `load()`."""

    def __init__(self, size: int) -> None:
        super().__init__(f"a record says it has {size} bytes")
        self.size = size


class _Invalid(Exception):
    """The record ends the log here, for this reason; `size` is what Java's DispatchRequest would carry."""

    def __init__(self, reason: str, size: int = -1, passed_by: PassedBy | None = None) -> None:
        super().__init__(reason)
        self.reason, self.size, self.passed_by = reason, size, passed_by


@dataclass(frozen=True, slots=True)
class Checked:
    """The answer for one position.

    Attributes:
        success, size: as in Java's DispatchRequest: (True, n) a message, (True, 0) go to the next file,
            (False, n > 0) inner sizes that do not add up, (False, -1) anything else. In 3.x a message may have any size
            but -1, which ends the log.
        read_to: where Java's buffer stands afterwards.
        request: what the dispatchers would get; None without a message.
        reason: why it is no message; `passed_by`: the setting without which it would be one.
    """

    success: bool
    size: int
    read_to: int
    request: DispatchRequest | None = None
    reason: str | None = None
    passed_by: PassedBy | None = None


@dataclass(slots=True)
class MessageCheck:
    """The check with what it depends on. One object per broker thread: since 5.5.1 its buffer remembers its size.

    Attributes:
        heap_bytes: the broker's heap when known; a size field beyond it raises OutOfHeap where nothing bounds it.
        largest_unbounded: the largest size field that was believed although the bytes are not there.
    """

    version: BrokerVersion
    settings: StoreSettings
    heap_bytes: int | None = None
    largest_unbounded: int = field(default=0, init=False)
    _buffer_size: int = field(default=0, init=False)

    def at(self, buf: memoryview, at: int, *, crc: bool, duplication: bool = False, read_body: bool = True) -> Checked:
        """Judge the record at byte `at`; `buf` ends where Java's buffer has its limit."""
        reader = _Reader(buf, at)
        try:
            return self._check(reader, crc, duplication and self.version.checks_duplication_info, read_body)
        except _Invalid as invalid:
            return Checked(False, invalid.size, reader.at, reason=invalid.reason, passed_by=invalid.passed_by)
        except InvalidForDispatch as invalid:
            return Checked(False, -1, reader.at, reason=f"a property is no number: {invalid}")

    def _check(self, reader: _Reader, crc: bool, duplication: bool, read_body: bool) -> Checked:
        total_size = self._total_size(reader)
        magic = reader.layout(MAGIC_FIELD)["magic_code"]
        if magic == MAGIC_BLANK:
            return Checked(True, 0, reader.at)
        if magic != MAGIC_V1 and not (magic == MAGIC_V2 and self.version.reads_v2_messages):
            raise _Invalid(f"no magic code of a message: {magic & 0xFFFFFFFF:#010x}")
        if total_size > reader.left + RECORD_START.size:
            self.largest_unbounded = max(self.largest_unbounded, total_size)
        reader.room = self._room(total_size)
        start = reader.at - RECORD_START.size
        row, form = self._fixed_fields(reader, start, magic)
        self._body(reader, row, crc, read_body)
        topic_size = reader.layout(form.topic_size)["topic_size"]
        topic = decode_utf8(reader.counted(topic_size, "topic"))
        properties_size = reader.layout(form.properties_size)["properties_size"]
        properties = self._properties(reader, properties_size, topic, duplication)
        if crc and self.settings.force_verify_prop_crc and self.version.verifies_record_crc:
            self._check_record_crc(reader, total_size, properties)
        inner_size = form.total_size(row["body_size"], topic_size, properties_size)
        if inner_size != total_size and self.version.adds_up_record_sizes:
            raise _Invalid("the sizes inside do not add up to the record's size", total_size)
        if total_size == -1:
            raise _Invalid("a size of -1")
        request = DispatchRequest(
            topic=topic,
            queue_id=row["queue_id"],
            queue_offset=row["queue_offset"],
            physical_offset=row["physical_offset"],
            msg_size=total_size,
            sys_flag=row["sys_flag"],
            store_timestamp_ms=row["store_timestamp_ms"],
            properties=properties,
        )
        return Checked(True, total_size, reader.at, request)

    def _total_size(self, reader: _Reader) -> int:
        if self.version.bounds_record_size and reader.left <= SIZE_FIELD.size:
            raise _Invalid("fewer bytes are left than a size field has")
        total_size = reader.layout(SIZE_FIELD)["total_size"]
        if self.version.rejects_negative_record_size and total_size < 0:
            raise _Invalid(f"a negative size: {total_size}")
        if self.version.bounds_record_size and reader.left < total_size - SIZE_FIELD.size:
            left = reader.left + SIZE_FIELD.size
            raise _Invalid(f"the record goes on beyond the bytes left: {total_size} of {left}")
        return total_size

    def _room(self, total_size: int) -> int:
        """Bytes of the buffer that fields are read into; in 3.x that of the messages to append."""
        if not self.version.adds_up_record_sizes:
            return self.settings.max_message_size + RECORD_START.size
        if total_size < 0:
            raise _Invalid(f"a negative size: {total_size}")
        if self.heap_bytes is not None and total_size > self.heap_bytes:
            raise OutOfHeap(total_size)
        if not self.version.reuses_record_buffer or total_size > REUSED_BUFFER_CAP:
            return total_size
        self._buffer_size = max(self._buffer_size, total_size)
        return self._buffer_size

    def _fixed_fields(self, reader: _Reader, start: int, magic: int) -> tuple[dict[str, int], Parts]:
        reader.at = start
        row = reader.layout(parts(magic, 0).head)
        form = parts(magic, row["sys_flag"])
        reader.counted(form.born_host.size, "born host")
        row |= reader.layout(form.store_time)
        reader.counted(form.store_host.size, "store host")
        return row | reader.layout(form.tail), form

    def _body(self, reader: _Reader, row: dict[str, int], crc: bool, read_body: bool) -> None:
        if row["body_size"] <= 0:
            return
        if not read_body:
            reader.skip(row["body_size"])
            return
        body = reader.counted(row["body_size"], "body")
        by_record = self.settings.force_verify_prop_crc and self.version.verifies_record_crc
        if crc and not by_record and crc31(body) != row["body_crc"]:
            raise _Invalid("the body does not match the record's CRC", passed_by=PassedBy.NO_CRC)

    def _properties(self, reader: _Reader, size: int, topic: str, duplication: bool) -> dict[str, str]:
        if size <= 0:
            return {}
        rule: PropertyRule = "first_separator" if self.version.keeps_property_values_with_separators else "split"
        properties = dict(decode_properties(reader.counted(size, "properties"), rule))
        if duplication and len(split(properties.get("DUP_INFO", ""), "_")) != 2:
            raise _Invalid(
                "duplicationEnable asks for a DUP_INFO property of two parts", passed_by=PassedBy.NO_DUPLICATION
            )
        if topic == SCHEDULE_TOPIC and "DELAY" in properties:
            parse_number(properties["DELAY"], INT_MIN, INT_MAX)
        if self.version.reads_inner_batches and {"INNER_NUM", "INNER_BASE"} <= properties.keys():
            parse_number(properties["INNER_BASE"], LONG_MIN, LONG_MAX)
            parse_number(properties["INNER_NUM"], SHORT_MIN, SHORT_MAX)
        return properties

    def _check_record_crc(self, reader: _Reader, total_size: int, properties: dict[str, str]) -> None:
        expected = _property_crc(properties.get("__CRC32#"))
        if expected < 0 or (expected == 0 and not self.version.bounds_record_size):
            raise _Invalid("forceVerifyPropCRC asks for a __CRC32# property", passed_by=PassedBy.NO_RECORD_CRC)
        start = reader.at - total_size
        if start < 0 or total_size < RESERVED_SIZE:
            raise _Invalid("the record is smaller than its CRC property", passed_by=PassedBy.NO_RECORD_CRC)
        if crc31(reader.buf[start : start + total_size - RESERVED_SIZE]) != expected:
            raise _Invalid("the record does not match its __CRC32# property", passed_by=PassedBy.NO_RECORD_CRC)


def _property_crc(digits: str | None) -> int:
    """The digits from last to first, in wrapping ints, whatever the characters are; -1 without the property."""
    if digits is None:
        return -1
    value = 0
    for character in reversed(digits):
        value = to_int(value * 10 + ord(character) - ord("0"))
    return value


class _Reader:
    """A ByteBuffer's reading end: every read beyond the limit, or beyond the room of the target, is invalid."""

    __slots__ = ("at", "buf", "room")

    def __init__(self, buf: memoryview, at: int) -> None:
        self.buf, self.at, self.room = buf, at, 0

    @property
    def left(self) -> int:
        return len(self.buf) - self.at

    def layout(self, layout: Layout) -> dict[str, int]:
        try:
            row = layout.unpack(self.buf, self.at)
        except StoreFormatError:
            raise _Invalid(f"the file ends inside: {layout.title}") from None
        self.at += layout.size
        return row

    def counted(self, size: int, what: str) -> memoryview:
        if not 0 <= size <= self.room or size > self.left:
            raise _Invalid(f"{what}: {size} bytes are said to follow")
        self.at += size
        return self.buf[self.at - size : self.at]

    def skip(self, size: int) -> None:
        if size > self.left:
            raise _Invalid(f"body: {size} bytes are said to follow")
        self.at += size


@dataclass(slots=True)
class EntryCheck(MessageCheck):
    """The check of a DLedger node's log, whose messages stand behind headers of entries. A header that has a message's
    magic code in it is one of the log before DLedger.

    Source: DLedgerCommitLog#checkMessageAndReturnSize @4.9.8, 5.3.3.
    """

    def at(self, buf: memoryview, at: int, *, crc: bool, duplication: bool = False, read_body: bool = True) -> Checked:
        """Judge the entry at byte `at`. Whatever is thrown there, for lack of memory too, is no message."""
        if len(buf) - at < entries.ENTRY_START.size:
            return Checked(False, -1, at, reason="fewer bytes are left than an entry begins with")
        start = entries.ENTRY_START.unpack(buf, at)
        record = at + entries.HEADER_SIZE
        if start["entry_size"] in (MAGIC_BLANK, MAGIC_V1, *((MAGIC_V2,) if self.version.reads_v2_messages else ())):
            record = at
        elif start["magic"] == entries.MAGIC_BLANK:
            return Checked(True, 0, at + entries.ENTRY_START.size)
        try:
            return MessageCheck.at(self, buf, record, crc=crc, duplication=duplication, read_body=read_body)
        except OutOfHeap as thrown:
            return Checked(False, -1, record, reason=str(thrown))
