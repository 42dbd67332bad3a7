"""What messages of brokers and clients say, against RocketMQ's own classes and what real brokers wrote."""

from __future__ import annotations

import base64
import gzip
import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

from parsers.damage.errors import StoreFormatError
from parsers.messages.declared import BodyKind
from parsers.messages.kinds import BODY_KINDS, KINDS, body_kind
from parsers.messages.trace_columns import RECORDS, decode_traces
from tests.support.cli import call
from tests.support.fixtures import CHECKOUT
from tests.support.stores import store_root, truth, truth_lines

VERSIONS = ("4.9.8", "5.2.0", "5.3.3", "5.5.0")
TRACE_VERSIONS = ("4.4.0", "4.8.0", "4.9.2", "4.9.8", "5.1.4", "5.3.3")
STORE = "5.3.3-pop"
CLASSES = {kind.name: kind for kind in BODY_KINDS}
GETTERS = {
    "group": ("CId", "ConsumerGroup"),
    "start_queue_offset": ("StartOffset",),
    "message_count": ("Num",),
    "queue_offset_diffs": ("QueueOffsetDiff",),
    "ack_bits": ("BitMap",),
    "pop_time_ms": ("PopTime",),
    "invisible_ms": ("InvisibleTime",),
    "revive_time_ms": ("ReviveTime",),
    "revive_queue_offset": ("ReviveOffset",),
    "broker": ("BrokerName", "MessageQueue.BrokerName"),
    "re_put_times": ("RePutTimes",),
    "suspend": ("Suspend",),
    "ack_queue_offset": ("AckOffset",),
    "ack_queue_offsets": ("AckOffsetList",),
    "asked_queue_offset": ("OffsetRequest",),
    "new_queue_offset": ("OffsetNew",),
    "topic": ("Topic", "MessageQueue.Topic"),
    "queue_id": ("QueueId", "MessageQueue.QueueId"),
}
"""The getters of the Java classes for each field of ours."""


def vectors(version: str) -> Iterator[tuple[BodyKind, bytes, dict[str, Any]]]:
    packed = CHECKOUT / "tests" / "golden" / "messages" / f"{version}.jsonl.gz"
    for line in gzip.decompress(packed.read_bytes()).splitlines():
        row = json.loads(line)
        queue = row["read"].pop("MessageQueue", None) or {}
        read = row["read"] | {f"MessageQueue.{name}": value for name, value in queue.items()}
        yield CLASSES[row["kind"]], base64.b64decode(row["body"]), read


@pytest.mark.parametrize("version", VERSIONS)
def test_bodies_say_what_the_java_classes_read(version: str) -> None:
    """A number that is not stored is 0 to Java and null here."""
    seen: Counter[str] = Counter()
    for kind, body, read in vectors(version):
        (record,) = kind.records(body)
        for name, value in record.values.items():
            (java,) = {json.dumps(read.get(getter)) for getter in GETTERS[name] if read.get(getter) is not None} or {
                "null"
            }
            assert value == json.loads(java) or (value is None and java in ("0", "false", "null", "[]")), (
                kind.name,
                name,
            )
            seen[name] += value is not None
        assert b"".join(body[piece.start : piece.end] for piece in kind.pieces(body)) == body
    assert all(
        seen[field.name]
        for kind in {kind for kind, _, _ in vectors(version)}
        for field in kind.fields
        if field.name not in ("suspend", "re_put_times")
    )
    assert bool(seen["suspend"]) == (version == "5.5.0")


def decoded_rows() -> list[dict[str, Any]]:
    called = call("dump", "commitlog", store_root(STORE), "--decode")
    assert called.code == 0, called.err
    return called.rows


def test_every_record_of_a_pop_store_is_decoded() -> None:
    """Of the revive and trace topics the bodies that the broker's own decoder gave."""
    rows = decoded_rows()
    told = truth(STORE, "revive_and_trace.json")
    kinds = {"ck": "pop_checkpoint", "ack": "pop_ack", "bAck": "pop_batch_ack"}
    expected: Counter[tuple[str, int, int, str]] = Counter()
    for message in told:
        is_trace = message["topic"] == "RMQ_SYS_TRACE_TOPIC"
        kind = "trace" if is_trace else kinds[message["tags"]]
        count = message["body"].count("\x02") if is_trace else 1
        expected[message["topic"], message["queueId"], message["queueOffset"], kind] += count
    topics = {topic for topic, _, _, _ in expected}
    found = Counter((r["topic"], r["queue_id"], r["queue_offset"], r["kind"]) for r in rows if r["topic"] in topics)
    assert found == expected
    by_place = {(m["topic"], m["queueId"], m["queueOffset"]): m["body"] for m in told}
    for row in rows:
        body = by_place.get((row["topic"], row["queue_id"], row["queue_offset"]))
        values = [value for _, value in row["fields"]]
        if body is not None and row["kind"] == "trace":
            assert values == body.split("\x02")[row["record_no"]].split("\x01")
        elif body is not None:
            assert sorted(values) == sorted(map(as_told, json.loads(body).values()))


def as_told(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def test_acks_are_those_that_the_client_made() -> None:
    """Every pop whose ack the broker took has its ack record; without the buffer none is left out."""
    acked = {
        (pop["group"], pop["realTopic"], str(pop["queueId"]), str(pop["queueOffset"]), str(pop["popTime"]))
        for pop in truth(STORE, "pop.json")
        if pop["ack"] == "OK"
    }
    fields = [dict(row["fields"]) for row in decoded_rows() if row["kind"] == "pop_ack"]
    found = {(f["group"], f["topic"], f["queue_id"], f["ack_queue_offset"], f["pop_time_ms"]) for f in fields}
    assert acked <= found


def test_held_messages_are_counted_as_the_broker_counts_them() -> None:
    rows = decoded_rows()
    counted = Counter(row["kind"] for row in rows)
    topics = Counter(line["topic"] for line in truth_lines(STORE, "messages.jsonl.gz") if line["type"] == "message")
    assert counted["timer"] == topics["rmq_sys_wheel_timer"]
    assert counted["timer"] - int(truth(STORE, "timer.json")["currQueueOffset"]) >= 0
    assert counted["transaction_half"] == topics["RMQ_SYS_TRANS_HALF_TOPIC"]
    assert counted["transaction_given_up"] == topics["TRANS_CHECK_MAX_TIME_TOPIC"]
    assert counted["dead_letter"] == sum(count for topic, count in topics.items() if topic.startswith("%DLQ%"))
    assert counted["retry"] == sum(count for topic, count in topics.items() if topic.startswith("%RETRY%"))


@pytest.mark.parametrize("version", TRACE_VERSIONS)
def test_traces_are_those_that_are_read_in_bulk(version: str) -> None:
    """Of whole bodies, those of clients of a cloud included whose records run together."""
    packed = CHECKOUT / "tests" / "golden" / "trace" / f"{version}.jsonl.gz"
    bodies = [row["body"] for row in map(json.loads, gzip.decompress(packed.read_bytes()).splitlines()) if row["wrote"]]
    rows: list[list[dict[str, Any]]] = [[] for _ in bodies]
    for row in decode_traces(pa.array(bodies)).to_pylist():
        rows[row["body_number"]].append(row)
    for body, expected in zip(bodies, rows, strict=True):
        stored = body.encode()
        records = CLASSES["trace"].records(stored)
        assert b"".join(stored[piece.start : piece.end] for piece in CLASSES["trace"].pieces(stored)) == stored
        assert len(records) == len(expected)
        for record, row in zip(records, expected, strict=True):
            for name, value in record.values.items():
                if name not in ("message_type", "result"):  # a number here, its name there
                    assert (None if value in ("", "null") else value) == row[name], (name, body)
    assert len(bodies) > 20


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b'{"so":"x"}', b'{"so":1e99}', b"\xff\xff", b"Pub\x01\x02", b"1,,2", b"x"]
)
@pytest.mark.parametrize("kind", BODY_KINDS, ids=lambda kind: kind.name)
def test_any_body_is_records_or_a_format_error(kind: BodyKind, body: bytes) -> None:
    try:
        records = kind.records(body)
    except StoreFormatError:
        return
    assert all(record.kind == kind.name for record in records)


@pytest.mark.parametrize(
    "body", [b"1," * 200_000, b"Pub\x01" * 200_000, b"x" * (9 << 20)], ids=["ops", "traces", "long"]
)
def test_a_body_says_no_more_than_any_has(body: bytes) -> None:
    for kind in BODY_KINDS:
        with pytest.raises(StoreFormatError):
            kind.records(body)


def test_a_trace_in_a_topic_of_its_own_is_known_by_its_body() -> None:
    for name in RECORDS:
        assert body_kind("MyTraces", {}, f"{name}\x01170".encode()[:16]) is CLASSES["trace"]
    assert body_kind("MyTraces", {}, b"Publish") is None


def test_names_are_told_once() -> None:
    assert len({kind.name for kind in KINDS}) == len(KINDS)
    for kind in KINDS:
        assert len({field.name for field in kind.fields}) <= len(kind.fields)
