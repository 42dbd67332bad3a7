"""Java's order, texts and numbers in the nouns of a rebalance."""

from __future__ import annotations

import pytest

from parsers.values.java import encoded, is_blank, ring_hash, split, utf16_order
from parsers.values.version import Version
from rebalance.model.message_queue import ClientId, MessageQueue

SORTED_BY_JAVA = [
    "10.0.0.10@1",
    "10.0.0.1@10",
    "10.0.0.1@9",
    "10.0.0.1@9#7",
    "10.0.0.1@DEFAULT",
    "10.0.0.2@1",
    "[fe80::1]@1",
    "\U0001f600@3",
    "\uff21@4",
]


def test_ids_sort_by_utf16_code_unit() -> None:
    assert sorted(set(SORTED_BY_JAVA), key=utf16_order) == SORTED_BY_JAVA


def test_queues_sort_by_topic_broker_and_number() -> None:
    queues = [MessageQueue("T", "broker-10", 10), MessageQueue("T", "broker-2", 2), MessageQueue("T", "broker-2", 10)]
    assert sorted(set(queues)) == queues
    high, low = MessageQueue("T", "\uff21", 0), MessageQueue("T", "\U0001f600", 9)
    assert (low < high, low <= high, high > low, high >= low) == (True, True, True, True)


def test_a_queue_is_printed_and_read_as_java_prints_it() -> None:
    queue = MessageQueue("T, [x]", "b", -1)
    assert str(queue) == "MessageQueue [topic=T, [x], brokerName=b, queueId=-1]"
    assert MessageQueue.parse(str(queue)) == queue
    assert MessageQueue.parse("MessageQueue [topic=T, brokerName=b]") is None


@pytest.mark.parametrize(
    ("text", "parts"),
    [("idc@", ["idc"]), ("@b", ["", "b"]), ("a@b@c", ["a", "b", "c"]), ("", [""]), ("@", []), ("a@@b", ["a", "", "b"])],
)
def test_split_drops_trailing_empty_parts(text: str, parts: list[str]) -> None:
    assert split(text, "@") == parts


def test_the_ring_hash_is_unsigned() -> None:
    assert ring_hash("10.0.0.1@100-1") == 1996989157
    assert ring_hash("10.0.0.2@200-1") == 3923845577
    assert ring_hash("MessageQueue [topic=T, brokerName=b, queueId=3]") == 434191955


def test_a_lone_surrogate_is_a_question_mark() -> None:
    assert encoded("a\ud83d", "utf-8") == b"a?"
    assert encoded("\ud83d\ude00", "utf-8") == "\U0001f600".encode()


def test_blank_is_java_white_space() -> None:
    assert is_blank("")
    assert is_blank(" \t\x1c")
    assert not is_blank("\xa0")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("10.0.0.1@77", ClientId("10.0.0.1@77", "10.0.0.1", "77", None, False, 77)),
        ("10.0.0.1@77#-5@STREAM", ClientId("10.0.0.1@77#-5@STREAM", "10.0.0.1", "77#-5", None, True, 77)),
        ("[fe80::1]@DEFAULT@u", ClientId("[fe80::1]@DEFAULT@u", "[fe80::1]", "DEFAULT", "u", False, None)),
        ("", ClientId("", "", "", None, False, None)),
    ],
)
def test_client_id_parts(text: str, expected: ClientId) -> None:
    assert ClientId.parse(text) == expected


def test_versions_are_ordered_and_printed_as_releases() -> None:
    assert str(Version.parse("V5_3_3-SNAPSHOT")) == "5.3.3"
    assert Version.parse("4.9") < Version.parse("4.10.0") < Version(5, 0, 0)


def test_versions_nobody_can_tell() -> None:
    with pytest.raises(ValueError, match="not a RocketMQ version"):
        Version.parse("5.x")
