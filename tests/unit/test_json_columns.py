"""Bodies as columns, of POP's revive log: in the names of either version, and whatever else a body may be."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recovery.fates.revive_log import BODIES

CHECKPOINT = '{"bm":0,"bn":"b","c":"G","d":[0,2],"it":3000,"n":2,"pt":7,"q":1,"reviveTime":3007,"ro":0,"so":4,"t":"T"}'
LONG_ACK = '{"ackOffset":4,"brokerName":"b","consumerGroup":"G","popTime":7,"queueId":1,"startOffset":4,"topic":"T"}'


def read(*bodies: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = BODIES.read(pa.array(bodies, pa.string())).to_pylist()
    return rows


def test_no_bodies_are_no_rows() -> None:
    assert BODIES.read(pa.array([], pa.string())).schema == BODIES.schema


def test_a_checkpoint_and_an_acknowledgement_with_long_names() -> None:
    checkpoint, ack = read(CHECKPOINT, LONG_ACK)
    assert (checkpoint["group"], checkpoint["topic"], checkpoint["broker"]) == ("G", "T", "b")
    counts = [checkpoint[name] for name in ("start_queue_offset", "queue_offset_diffs", "message_count")]
    assert counts == [4, [0, 2], 2]
    assert (checkpoint["pop_time_ms"], checkpoint["invisible_ms"], checkpoint["queue_id"]) == (7, 3000, 1)
    assert {name: ack[name] for name in ("group", "topic", "broker", "queue_id")} == {
        "group": "G",
        "topic": "T",
        "broker": "b",
        "queue_id": 1,
    }
    assert (ack["ack_queue_offset"], ack["start_queue_offset"], ack["pop_time_ms"], ack["message_count"]) == (
        4,
        4,
        7,
        None,
    )


@pytest.mark.parametrize(
    "body", ["", "{", "[1]", "{}{}", "0-12", '{"so":1.5}', '{"c":1}', '{"d":{}}', '{"so":true}', '{"so":1e400}']
)
def test_a_body_that_the_broker_cannot_read_costs_no_other_one(body: str) -> None:
    before, odd, after = read(CHECKPOINT, body, CHECKPOINT)
    assert before == after == read(CHECKPOINT)[0]
    assert odd == dict.fromkeys(BODIES.fields) | {"readable": False}


@pytest.mark.parametrize("body", [CHECKPOINT.replace(",", ",\n"), CHECKPOINT.replace('"', "'"), f" {CHECKPOINT} "])
def test_what_fastjson_reads_is_read(body: str) -> None:
    assert read(body, CHECKPOINT) == read(CHECKPOINT, body)


VALUES = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=3)
TEXTS = st.dictionaries(
    st.sampled_from([each for field in BODIES.fields.values() for each in (field.stored, field.older_stored) if each]),
    VALUES | st.lists(VALUES, max_size=3),
    max_size=4,
).map(json.dumps)


@given(st.lists(TEXTS | st.text(max_size=12) | st.just(CHECKPOINT), max_size=6))
def test_any_bodies_are_as_many_rows_each_as_it_is_alone(bodies: list[str]) -> None:
    bodies = [body.encode("utf-8", "replace").decode() for body in bodies]
    assert read(*bodies) == [row for body in bodies for row in read(body)]
