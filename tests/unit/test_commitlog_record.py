"""The small rules of a record, by examples: properties under both parsers, ids, tags codes, the CRC of a record."""

from __future__ import annotations

import pytest

from parsers.commitlog.record.host import Host, decode_message_id, encode_message_id
from parsers.commitlog.record.layout import MAGIC_V1, MAGIC_V2, compression, parts, transaction_type
from parsers.commitlog.record.message import decode_message, encode_message
from parsers.commitlog.record.properties import (
    PropertyRule,
    decode_properties,
    decode_record_crc,
    encode_properties,
    encode_record_crc,
)
from parsers.commitlog.record.tags import DelayLevels, tags_code, tags_hash
from parsers.damage.errors import CorruptRecord, NotThisFormat, TruncatedRecord
from parsers.values.topics import SCHEDULE_TOPIC
from tests.support.new_message import new_message

LEVELS = DelayLevels.parse()


@pytest.mark.parametrize(
    ("stored", "first_separator", "split"),
    [
        (b"a\x01b", [("a", "b")], [("a", "b")]),
        (b"a\x01b\x02", [("a", "b")], [("a", "b")]),
        (b"a\x01b\x02a\x01c\x02", [("a", "b"), ("a", "c")], [("a", "b"), ("a", "c")]),
        (b"a\x01\x02b\x01c", [("b", "c")], [("b", "c")]),
        (b"a\x01b\x01c", [("a", "b\x01c")], []),
        (b"a\x01b\x01", [("a", "b\x01")], [("a", "b")]),
        (b"\x01b", [], [("", "b")]),
        (b"a", [], []),
        (b"\x02\x02a\x01b", [("a", "b")], [("a", "b")]),
        (b"", [], []),
        (b"\xff\x01\xe6\xa0\x87", [("\ufffd", "标")], [("\ufffd", "标")]),
    ],
)
def test_properties_by_the_rule_of_the_version(
    stored: bytes, first_separator: list[tuple[str, str]], split: list[tuple[str, str]]
) -> None:
    rules: dict[PropertyRule, list[tuple[str, str]]] = {"first_separator": first_separator, "split": split}
    assert {rule: decode_properties(stored, rule) for rule in rules} == rules


def test_the_tail_of_properties_differs_by_version() -> None:
    pairs = [("a", "b"), ("c", "d")]
    assert encode_properties(pairs) == b"a\x01b\x02c\x01d\x02"
    assert encode_properties(pairs, trailing_separator=False) == b"a\x01b\x02c\x01d"
    assert encode_properties([]) == b""


def test_a_message_id_holds_host_and_place() -> None:
    host = Host(bytes((127, 0, 0, 1)), 10911)
    assert encode_message_id(host, 687) == "7F00000100002A9F00000000000002AF"
    assert decode_message_id("7F00000100002A9F00000000000002AF") == (host, 687)
    for text in ("", "7F", "7F00000100002A9F00000000000002AG", " 7F00000100002A9F00000000000002AF"):
        with pytest.raises(ValueError, match="id"):
            decode_message_id(text)


@pytest.mark.parametrize(("tags", "code"), [(None, 0), ("", 0), ("TagA", 2598919), ("标签", 857175), ("Aa", 2112)])
def test_the_tags_code_is_javas_hash(tags: str | None, code: int) -> None:
    assert tags_hash(tags) == tags_code("T", tags, "3", 1000, LEVELS) == code


@pytest.mark.parametrize(
    ("delay", "code"),
    [("1", 2000), ("3", 11_000), ("18", 7_201_000), ("99", 7_201_000), ("0", 2112), ("-1", 2112), (None, 2112)],
)
def test_a_delayed_message_has_its_delivery_time(delay: str | None, code: int) -> None:
    assert tags_code(SCHEDULE_TOPIC, "Aa", delay, 1000, LEVELS) == code


def test_delays_that_are_no_levels_are_refused() -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        tags_code(SCHEDULE_TOPIC, None, "soon", 0, LEVELS)
    for text in ("1x", "s", ""):
        with pytest.raises(ValueError, match="messageDelayLevel"):
            DelayLevels.parse(text)


def test_the_crc_of_a_record_is_written_backwards() -> None:
    assert encode_record_crc(123) == b"__CRC32#\x013210000000\x02"
    assert decode_record_crc(b"anything" + encode_record_crc(123)) == 123
    assert decode_record_crc(b"__CRC32#\x01x210000000\x02") is None
    assert decode_record_crc(b"short") is None


def test_the_size_of_a_record_follows_its_form() -> None:
    assert parts(MAGIC_V1, 0).total_size(0, 0, 0) == 91
    assert parts(MAGIC_V2, 0x30).total_size(-5, 3, -1) == 91 + 1 + 24 + 3
    with pytest.raises(ValueError, match="magic"):
        parts(0, 0)


@pytest.mark.parametrize(
    ("sys_flag", "transaction", "packed"),
    [
        (0, "none", None),
        (0x700, "none", None),
        (0x105, "prepared", "lz4"),
        (0x209, "commit", "zstd"),
        (0x30D, "rollback", "zlib"),
        (0x001, "none", "zlib"),
        (0x701, "none", "unknown"),
    ],
)
def test_sys_flag_in_words(sys_flag: int, transaction: str, packed: str | None) -> None:
    assert (transaction_type(sys_flag), compression(sys_flag)) == (transaction, packed)


def test_a_long_topic_makes_a_record_of_version_2() -> None:
    assert new_message("t" * 127, b"").magic_code == MAGIC_V1
    message = new_message("%RETRY%" + "群" * 121, b"body")
    assert message.magic_code == MAGIC_V2
    assert decode_message(encode_message(message)).topic == message.topic


def test_what_is_no_message_says_why() -> None:
    record = encode_message(new_message("T", b"body"))
    with pytest.raises(TruncatedRecord):
        decode_message(record[:-1])
    with pytest.raises(TruncatedRecord):
        decode_message(b"\0\0\0")
    with pytest.raises(NotThisFormat):
        decode_message(bytes(100))
    with pytest.raises(CorruptRecord):
        decode_message(b"\0\0\0\x5a" + record[4:])
    with pytest.raises(ValueError, match="not the sum"):
        encode_message(decode_message(record).__class__(**{**fields_of(record), "total_size": 1}))


def fields_of(record: bytes) -> dict[str, object]:
    message = decode_message(record)
    return {name: getattr(message, name) for name in message.__slots__}
