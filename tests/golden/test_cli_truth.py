"""What the commands print is what each store's own broker said: messages, queues, queries, times, lag."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.support.cli import call
from tests.support.stores import (
    GROUP_KINDS,
    MORE_KINDS,
    log_setting,
    since,
    store_names,
    store_root,
    truth,
    truth_lines,
)

KINDS = ("clean", "propcrc", "ipv6", "dledger", "rocksdb", "rocksdbv2", *MORE_KINDS)
CLASSIC = store_names(*KINDS, *GROUP_KINDS, subject="log")
PROGRESS = [
    name
    for name in store_names(*KINDS, "ha-clean", "ha-behind", "ha-ahead", subject="progress")
    if not name.endswith("/slave")
]

READ_IN_PART = 4
NOT_INDEXED_AGAIN = ("4.9.7-dledger3/n0", "4.9.7-dledger3/n1", "4.9.7-dledger3/n2", "5.3.3-dledger3/n2")
"""Brokers that were killed and made no index of their early messages when they started again: `find` says so."""


def rows(*arguments: object, stdin: bytes = b"", codes: tuple[int, ...] = (0,)) -> list[dict[str, Any]]:
    called = call(*arguments, "--quiet", stdin=stdin)
    assert called.code in codes, called.err
    return called.rows


def given(name: str) -> list[object]:
    """The store as an argument, with the setting that says where its log is."""
    return [store_root(name), *(word for pair in log_setting(name).items() for word in ("--config", "=".join(pair)))]


def lines(objects: list[dict[str, Any]]) -> bytes:
    return "\n".join(map(json.dumps, objects)).encode()


def instant(epoch_ms: int) -> str:
    text = datetime.fromtimestamp(epoch_ms // 1000, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    return f"{text}.{epoch_ms % 1000:03d}Z"


@pytest.mark.parametrize("name", store_names(*KINDS, *GROUP_KINDS, "lmq", subject="every message"))
def test_messages(name: str) -> None:
    expected = [line for line in truth_lines(name, "messages.jsonl.gz") if line["type"] == "message"]
    found = rows("dump", "commitlog", *given(name))
    assert [row["physical_offset"] for row in found] == [line["physicalOffset"] for line in expected]
    for row, line in zip(found, expected, strict=True):
        assert row["topic"] == line["topic"]
        assert row["properties"] == line["propertiesStored"]
        assert row["store_timestamp"] == instant(line["storeTimestamp"])
        assert row["born_timestamp"] == instant(line["bornTimestamp"])
        assert row["message_id"] == line["msgId"]
        assert row["unique_id"] == line["uniqKey"]
        assert row["body_size"] == line["bodyLength"]
        assert row["crc_ok"] is True
        assert row["store_host"] == line["storeHost"].lstrip("/")
        assert row["born_host"] == line["bornHost"].lstrip("/")


@pytest.mark.parametrize("name", store_names(*KINDS, *GROUP_KINDS, "lmq", subject="queues"))
def test_queues(name: str) -> None:
    expected = {
        (line["topic"], line["queueId"]): (line["minOffset"], line["maxOffset"], len(line["units"]))
        for line in truth_lines(name, "queues.jsonl.gz")
        if line["maxOffset"]
    }
    found = rows("queues", *given(name))
    assert {
        (row["topic"], row["queue_id"]): (row["min_queue_offset"], row["max_queue_offset"], row["units"])
        for row in found
        if row["max_queue_offset"]
    } == expected


@pytest.mark.parametrize("name", CLASSIC)
def test_queries_by_key(name: str) -> None:
    asked = list(truth_lines(name, "query_by_key.jsonl.gz"))
    questions = [{key: line[key] for key in ("topic", "key", "maxNum", "begin", "end")} for line in asked]
    code = READ_IN_PART if name in NOT_INDEXED_AGAIN else 0
    answers = rows("find", *given(name), "--batch", "--hash-only", stdin=lines(questions), codes=(code,))
    assert [answer["physical_offsets"] for answer in answers] == [line["phyOffsets"] for line in asked]
    assert [[row["physical_offset"] for row in answer["messages"]] for answer in answers] == [
        line["phyOffsets"] for line in asked
    ]
    one = next(line for line in asked if line["phyOffsets"])
    options = ["--begin", one["begin"], "--end", one["end"], "--max", one["maxNum"], "--hash-only"]
    found = rows("find", *given(name), "--topic", one["topic"], "--key", one["key"], *options, codes=(0, code))
    assert [row["physical_offset"] for row in found] == one["phyOffsets"]


@pytest.mark.parametrize("name", since(5, CLASSIC)[:1])
def test_a_unique_id_is_looked_for_within_the_times_asked_for(name: str) -> None:
    stored = next(line for line in truth_lines(name, "messages.jsonl.gz") if line["uniqKey"] and line["queueId"] >= 0)
    question = {"topic": stored["topic"], "unique_id": stored["uniqKey"]}
    windows = [{}, {"end": stored["storeTimestamp"] - 2000}, {"begin": stored["storeTimestamp"] + 2000}]
    answers = rows("find", *given(name), "--batch", stdin=lines([question | window for window in windows]))
    assert [len(answer["messages"]) > 0 for answer in answers] == [True, False, False]


@pytest.mark.parametrize("name", since(5, CLASSIC)[:1])
def test_the_id_of_a_producer_is_no_offset_message_id_and_find_says_how_to_ask(name: str) -> None:
    stored = next(line for line in truth_lines(name, "messages.jsonl.gz") if line["uniqKey"])
    told = call("find", *given(name), "--message-id", stored["uniqKey"])
    assert (told.code, told.rows) == (0, [])
    assert "name it with --topic and --unique-id" in told.err
    assert call("find", *given(name), "--message-id", stored["msgId"]).err == ""


@pytest.mark.parametrize("name", since(5, CLASSIC))
@pytest.mark.parametrize("boundary", ["lower", "upper"])
def test_offsets_by_time(name: str, boundary: str) -> None:
    asked = list(truth_lines(name, "offset_by_time.jsonl.gz"))
    questions = [{"topic": line["topic"], "queue_id": line["queueId"], "at": line["timestamp"]} for line in asked]
    answers = rows("offset-at", *given(name), "--batch", "--boundary", boundary, stdin=lines(questions))
    assert [answer["queue_offset"] for answer in answers] == [line[f"offset{boundary.upper()}"] for line in asked]


@pytest.mark.parametrize("name", since(5, PROGRESS)[:1])
def test_what_a_reset_would_skip_and_repeat_is_what_consumer_progress_says(name: str) -> None:
    """To the end it skips all that the group has not read, to the beginning it repeats all that it has."""
    told = truth(name, "consumer_progress.json")["CG_lagging"]["queues"]
    wanted = [line for line in told if line["topic"] == "OrderTopic1"]
    plans = []
    for at in ("2040-01-01T00:00:00Z", "1"):
        asked = ("--topic", "OrderTopic1", "--group", "CG_lagging", "--at", at)
        plans.append([(row["skipped"], row["repeated"]) for row in rows("offset-at", *given(name), *asked)])
    behind = [(line["brokerOffset"] - line["consumerOffset"], 0) for line in wanted]
    assert plans == [behind, [(0, line["consumerOffset"]) for line in wanted]]
    assert sum(skipped for skipped, _ in behind) > 0


@pytest.mark.parametrize("name", PROGRESS)
def test_lag_is_what_consumer_progress_says(name: str) -> None:
    found = {
        (row["group"], row["topic"], row["queue_id"]): (row["broker_offset"], row["consumer_offset"])
        for row in rows("lag", *given(name))
    }
    expected = {
        (group, line["topic"], line["queueId"]): (line["brokerOffset"], line["consumerOffset"])
        for group, progress in truth(name, "consumer_progress.json").items()
        for line in progress.get("queues", [])
    }
    assert expected
    assert {place: found.get(place) for place in expected} == expected
