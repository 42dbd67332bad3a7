"""The broker's message check, row by row of its rules, and the compiled walk beside it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from parsers.commitlog.record.layout import HEAD, MAGIC_BLANK, RECORD_START
from parsers.commitlog.record.message import Message, encode_message
from parsers.commitlog.record.properties import RESERVED_SIZE, encode_properties, encode_record_crc
from parsers.values.java import crc31
from recovery.broker.message_check import MessageCheck, OutOfHeap
from recovery.broker.message_check_kernel import Accepts, walk_valid
from recovery.rules.settings import StoreSettings
from recovery.rules.versions import BrokerVersion
from recovery.scan.property_spans import SPANS
from tests.support.new_message import new_message

OLD, BEFORE_BOUNDS, BOUNDED, NEWEST = (BrokerVersion.parse(text) for text in ("4.9.8", "5.3.1", "5.3.3", "5.5.1"))
EVERY = (OLD, BEFORE_BOUNDS, BOUNDED, NEWEST)
DEFAULTS = StoreSettings()
FORCED_CRC = StoreSettings.from_config({"forceVerifyPropCRC": "true"})


def _record(topic: str = "T", body: bytes = b"body", **properties: str) -> bytes:
    return encode_message(_message(topic, body, **properties))


def _message(topic: str = "T", body: bytes = b"body", **properties: str) -> Message:
    return new_message(topic, body, store_timestamp_ms=7, properties_stored=encode_properties(properties.items()))


def _patched(record: bytes, field: str, value: int) -> bytes:
    at, width = HEAD.offsets[field], next(f.width for f in HEAD.fields if f.name == field)
    return record[:at] + value.to_bytes(width, "big", signed=True) + record[at + width :]


def _judge(data: bytes, version: BrokerVersion, settings: StoreSettings = DEFAULTS, **how: bool) -> tuple[bool, int]:
    checked = MessageCheck(version, settings).at(memoryview(data), 0, crc=how.pop("crc", True), **how)
    return checked.success, checked.size


WHOLE = _record(TAGS="a", KEYS="k")
SIZE = len(WHOLE)


@pytest.mark.parametrize("version", EVERY)
@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (WHOLE, (True, SIZE)),
        (_record(body=b""), (True, len(_record(body=b"")))),
        (RECORD_START.pack({"total_size": 500, "magic_code": MAGIC_BLANK}) + bytes(500), (True, 0)),
        (bytes(64), (False, -1)),
        (b"", (False, -1)),
        (WHOLE[:3], (False, -1)),
        (_patched(WHOLE, "magic_code", 1), (False, -1)),
        (_patched(WHOLE, "total_size", -5), (False, -1)),
        (_patched(WHOLE, "body_crc", 0), (False, -1)),
        (_patched(WHOLE, "total_size", SIZE - 1) + bytes(9), (False, SIZE - 1)),
        (_patched(WHOLE, "total_size", SIZE + 1) + bytes(9), (False, SIZE + 1)),
        (WHOLE[:-1], (False, -1)),
        (_patched(WHOLE, "queue_offset", -9), (True, SIZE)),
        (_patched(WHOLE, "physical_offset", 1 << 40), (True, SIZE)),
        (_record("SCHEDULE_TOPIC_XXXX", DELAY="3"), (True, len(_record("SCHEDULE_TOPIC_XXXX", DELAY="3")))),
        (_record("SCHEDULE_TOPIC_XXXX", DELAY="x"), (False, -1)),
        (_record(DELAY="x"), (True, len(_record(DELAY="x")))),
    ],
)
def test_rows_that_hold_for_every_version(data: bytes, expected: tuple[bool, int], version: BrokerVersion) -> None:
    assert _judge(data, version) == expected


def test_what_is_read_without_crc_or_body() -> None:
    damaged = _patched(WHOLE, "body_crc", 0)
    assert _judge(damaged, BOUNDED, crc=False) == (True, SIZE)
    assert _judge(damaged, BOUNDED, crc=False, read_body=False) == (True, SIZE)


def test_long_topics_are_known_since_5_1() -> None:
    record = _record("%RETRY%" + "g" * 150)
    assert [_judge(record, version)[0] for version in EVERY] == [False, True, True, True]


def test_inner_batch_numbers_are_read_since_5_0() -> None:
    record = _record(INNER_NUM="two", INNER_BASE="0")
    assert [_judge(record, version)[0] for version in EVERY] == [True, False, False, False]


def test_duplication_asks_for_two_parts_since_5_0() -> None:
    plain, marked = _record(KEYS="k"), _record(DUP_INFO="a_b")
    assert [_judge(plain, version, duplication=True)[0] for version in EVERY] == [True, False, False, False]
    assert all(_judge(marked, version, duplication=True)[0] for version in EVERY)
    assert _judge(_record(), NEWEST, duplication=True)[0]  # without properties it is not looked for


def test_a_size_that_nobody_bounds_may_exceed_the_heap() -> None:
    huge = _patched(WHOLE, "total_size", 1 << 30)
    for version in (OLD, BEFORE_BOUNDS):
        with pytest.raises(OutOfHeap):
            MessageCheck(version, DEFAULTS, heap_bytes=512 << 20).at(memoryview(huge), 0, crc=True)
        check = MessageCheck(version, DEFAULTS)
        assert not check.at(memoryview(huge), 0, crc=True).success
        assert check.largest_unbounded == 1 << 30
    assert _judge(huge, BOUNDED) == (False, -1)


def _with_record_crc(message: Message) -> bytes:
    reserved = replace(
        message,
        properties_stored=message.properties_stored + bytes(RESERVED_SIZE),
        properties_size=message.properties_size + RESERVED_SIZE,
        total_size=message.total_size + RESERVED_SIZE,
    )
    covered = encode_message(reserved)[:-RESERVED_SIZE]
    return covered + encode_record_crc(crc31(covered))


def test_the_crc_of_the_whole_record_replaces_that_of_the_body() -> None:
    record = _with_record_crc(_message(KEYS="k"))
    assert _judge(record, BOUNDED, FORCED_CRC) == (True, len(record))
    assert not _judge(_patched(record, "queue_id", 1), BOUNDED, FORCED_CRC)[0]
    assert not _judge(WHOLE, BOUNDED, FORCED_CRC)[0]
    assert _judge(WHOLE, OLD, FORCED_CRC)[0]  # 4.9.8 does not have the setting


def test_the_buffer_of_5_5_1_remembers_its_size() -> None:
    """A topic longer than its record is another failure once a longer record was read: dispatch skips by the size."""
    long_topic = encode_message(new_message("t" * 90, b"", store_timestamp_ms=7))
    short = _patched(long_topic, "total_size", 80)
    fresh = MessageCheck(NEWEST, DEFAULTS)
    assert fresh.at(memoryview(short), 0, crc=False).size == -1
    fresh.at(memoryview(long_topic), 0, crc=False)
    assert fresh.at(memoryview(short), 0, crc=False).size == 80


@pytest.mark.parametrize("version", EVERY)
def test_the_compiled_walk_accepts_what_the_readable_check_accepts(version: BrokerVersion) -> None:
    records = [
        WHOLE,
        _record("%RETRY%" + "g" * 150),
        _record(body=b""),
        _patched(WHOLE, "body_crc", 3),
        _patched(WHOLE, "total_size", SIZE - 1),
        _record(INNER_NUM="1", INNER_BASE="0"),
        _record(KEYS="a b c"),
    ]
    for first in range(len(records)):
        data = b"".join(records[first:])
        positions, span = np.empty(len(records), np.int64), np.empty(SPANS, np.int64)
        accepts = Accepts(version.reads_v2_messages, any_crc=False, split_values=False)
        count, end = walk_valid(np.frombuffer(data, np.uint8), 0, accepts, 0, span, positions)
        check, at = MessageCheck(version, DEFAULTS), 0
        for position in positions[:count].tolist():
            checked = check.at(memoryview(data), at, crc=True)
            assert (checked.success, at) == (True, position)
            at += checked.size
        assert at == end
