"""The columns of every command that gives rows: names and order are the contract with whoever reads them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.cli import call
from tests.support.fixtures import GOLDEN
from tests.support.stores import store_root

MESSAGES = (
    "broker, file, physical_offset, total_size, magic_code, body_crc, queue_id, flag, queue_offset, sys_flag, "
    "born_timestamp, born_host, store_timestamp, store_host, reconsume_times, prepared_transaction_offset, body_size, "
    "topic, properties, keys, tags, unique_id, message_id, crc_ok, transaction_type, compression"
)
UNITS = "broker, topic, queue_id, queue_offset, physical_offset, msg_size, tags_code, kind"
INDEX = "broker, file, entry_no, key_hash, physical_offset, time_diff_s, prev_index_no, slot"
LAG = "group, topic, queue_id, at, broker_offset, consumer_offset, messages_behind, seconds_behind, status, reason"
INTERVALS = (
    "group, topic, broker, queue_id, client_id, begin_earliest, begin_latest, end_earliest, end_latest, cause, evidence"
)
FOUND = "physical_offset, message_id, topic, queue_id, queue_offset, store_timestamp, keys, unique_id, found_by, life"
CONTRACT = {
    "dump commitlog {store}": MESSAGES,
    "dump commitlog {store} --bodies": MESSAGES + ", record_crc_ok, body, body_decompressed, body_text",
    "dump regions {store}": "broker, file, physical_offset, file_pos, length, kind, reason",
    "dump consumequeue {store}": UNITS,
    "dump index {store}": INDEX,
    "dump checkpoint {store}": "broker, file, physic_msg_timestamp, logics_msg_timestamp, index_msg_timestamp",
    "dump config {store} --table topic_configs": "topic, read_queue_nums, write_queue_nums, perm",
    "dump config {store} --table offset_snapshots": "group, topic, queue_id, consumer_offset",
    "queues {store}": "topic, queue_id, min_queue_offset, max_queue_offset, max_physical_offset, units, files",
    "topics {store}": "topic, life, state, first_physical_offset, end_physical_offset, queues, messages, earliest, "
    "latest, certain, evidence",
    "find {store} --message-id {message_id}": FOUND,
    "offset-at {store} --topic {topic} --queue 0 --at 1795273632813": "topic, queue_id, at, queue_offset",
    "lag {store}": LAG,
    "who {store} --message-id {message_id}": "at, step, group, client_id, what, certain, evidence",
    "explain {store}/checkpoint": "file_pos, length, hex, group, field, value, meaning",
    "replay {session}": INTERVALS,
    "replay {session} --show anomalies": "kind, group, topic, broker, queue_id, begin_at, end_at, clients, cause",
    "replay {session} --show unrecognised": "log, lines, first_line, text",
    "what-if {session}": "group, topic, begin_at, end_at, strategy, members, queues, moved_queues, largest_share, "
    "smallest_share, unowned, shared, largest_backlog, smallest_backlog",
    "replay {session} --show assignments": "group, topic, client_id, process, at, strategy",
    "replay {session} --show divergence": "group, topic, client_id, process, at, expected, observed, cause",
}


@pytest.fixture(scope="module")
def places() -> dict[str, object]:
    store = store_root("5.3.3-propcrc")
    first = call("dump", "commitlog", store, "--limit", "1").rows[0]
    session = GOLDEN / "rebalance" / "sessions" / "c-497-ordered-kill"
    return {"store": store, "session": session, "message_id": first["message_id"], "topic": first["topic"]}


@pytest.mark.parametrize("line", CONTRACT)
def test_columns(line: str, places: dict[str, object]) -> None:
    called = call(*(word.format(**places) for word in line.split()), "--limit", "1")
    assert called.code in (0, 1), called.err
    names = list(called.rows[0])
    wanted = CONTRACT[line].split(", ")
    assert [name for name in names if name in wanted] == wanted


def test_json_forms(places: dict[str, object]) -> None:
    row = call("dump", "commitlog", places["store"], "--bodies", "--limit", "1").rows[0]
    assert row["store_timestamp"].endswith("Z")
    assert len(row["store_timestamp"]) == len("2026-11-21T13:05:00.123Z")
    assert row["properties"] == [pair for pair in row["properties"] if len(pair) == 2]
    assert isinstance(row["physical_offset"], int)
    assert row["broker"] is None


def test_forecast_document(places: dict[str, object]) -> None:
    document = json.loads(call("forecast", places["store"], "--version", "5.3.3").out)
    wanted = (
        "version, exit, load, commitlog, before_dispatch, dispatch_from, redispatched_messages, after_dispatch, lost, "
        "reasons, unknown"
    )
    assert [name for name in document if name in wanted.split(", ")] == wanted.split(", ")
    assert set(document["load"]) == {"ok", "error"}
    assert set(document["after_dispatch"]) >= {"queues", "consumequeue_sha256", "index_files"}
    assert {"topic", "queue_id", "min_queue_offset", "max_queue_offset"} <= set(
        document["before_dispatch"]["queues"][0]
    )


def test_ownership_at_instants(places: dict[str, object]) -> None:
    at_ms = 1795273800000
    single = json.loads(call("replay", places["session"], "--at", at_ms).out)
    batch = call("replay", places["session"], "--batch", stdin=f'{{"at": {at_ms}}}\n{{"at": "x"}}\n'.encode()).rows
    assert batch[0] == single
    assert single["at"] == at_ms
    keys = ["group", "topic", "broker", "queue_id", "owners", "certain", "possible"]
    assert all(list(queue) == keys for queue in single["queues"])
    assert any(queue["owners"] for queue in single["queues"])
    assert batch[1]["error"]["message"].startswith("line 2")


def test_allocate_answers_line_by_line() -> None:
    question = {"group": "g", "current": "b", "mq_all": [["T", "x", 0], ["T", "x", 1]], "cid_all": ["b", "a"]}
    lines = json.dumps(question).encode() + b"\nnonsense\n" + json.dumps({**question, "cid_all": []}).encode()
    taken_as_given = call("allocate", stdin=lines)
    assert taken_as_given.code == 4
    assert taken_as_given.rows[0] == {"result": [["T", "x", 0]]}
    assert set(taken_as_given.rows[1]["error"]) == {"class", "message"}
    assert taken_as_given.rows[2]["error"]["class"] == "java.lang.IllegalArgumentException"
    assert call("allocate", "--sort", stdin=lines).rows[0] == {"result": [["T", "x", 1]]}
    assert call("allocate", "--strategy", "AVG_BY_CIRCLE", stdin=lines).rows[0] == {"result": [["T", "x", 0]]}


def test_a_recording_of_nothing_is_refused(tmp_path: Path) -> None:
    assert call("replay", tmp_path).code == 3


def test_questions_in_rocketmqs_words_and_in_ours_are_one(places: dict[str, object]) -> None:
    topic, at_ms = places["topic"], 1795274030000
    forms = [
        {"topic": topic, "queue_id": 0, "at": at_ms, "boundary": "upper"},
        {"topic": topic, "queue": 0, "at": at_ms, "boundary": "UPPER"},
        {"topic": topic, "queueId": 0, "timestamp": at_ms, "boundary": "upper"},
        {"topic": topic, "queue_id": 0, "at": "2026-11-21T15:13:50Z", "boundary": "upper"},
    ]
    answers = call("offset-at", places["store"], "--batch", stdin="\n".join(map(json.dumps, forms)).encode()).rows
    assert len({(answer["topic"], answer["queue_id"], answer["queue_offset"]) for answer in answers}) == 1
    assert [answer["at"] for answer in answers] == [at_ms, at_ms, at_ms, "2026-11-21T15:13:50Z"]


@pytest.mark.parametrize(
    ("command", "question", "complaint"),
    [
        ("offset-at", {"topic": "T", "at": 1}, "queue_id is missing"),
        ("offset-at", {"topic": "T", "queue_id": 0, "at": "noon"}, "'noon' is not a time"),
        ("offset-at", {"topic": "T", "queue_id": 0, "at": 1, "boundary": "middle"}, "boundary is lower or upper"),
        ("find", {"topic": "T"}, "give one of --key, --unique-id and --message-id"),
        ("find", {"topic": "T", "key": 5}, "key is missing or no text"),
        ("find", {"message_id": "zz"}, ""),
    ],
)
def test_a_bad_question_is_answered_and_named(
    places: dict[str, object], command: str, question: dict[str, object], complaint: str
) -> None:
    lines = f"{json.dumps(question)}\n[]\n".encode()
    called = call(command, places["store"], "--batch", stdin=lines)
    assert called.code == 4
    assert complaint in called.rows[0]["error"]["message"]
    assert "one JSON object a line" in called.rows[1]["error"]["message"]
    assert called.err.count("not read: standard input") == 2


def test_options_give_what_a_line_of_find_leaves_out(places: dict[str, object]) -> None:
    unique_id = call("dump", "commitlog", places["store"], "--limit", "1").rows[0]["unique_id"]
    line = json.dumps({"unique_id": unique_id}).encode()
    (answer,) = call("find", places["store"], "--batch", "--topic", places["topic"], stdin=line).rows
    assert [row["unique_id"] for row in answer["messages"]] == [unique_id]
    assert call("find", places["store"], "--batch", stdin=line).code == 4


def test_a_lone_surrogate_is_written_as_an_escape() -> None:
    question = {"group": "g", "current": "b", "mq_all": [["\ud800", "x", 0]], "cid_all": ["b"]}
    answered = call("allocate", stdin=json.dumps(question).encode())
    assert answered.out == b'{"result":[["\\ud800","x",0]]}\n'
