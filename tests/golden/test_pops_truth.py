"""Popped messages, one by one, against what the popping client noted: every pop, every acknowledgement.

Whether a message was delivered again is judged by a plain look at the messages that RocketMQ's own classes read.
"""

from __future__ import annotations

import json
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from parsers.layouts.fastjson import as_map, parse
from tests.support.cli import call, rows_of
from tests.support.copies import copy_tree
from tests.support.stores import log_setting, store_names, store_root, truth, truth_lines

POPPED = store_names("pop")
REVIVE = "rmq_sys_REVIVE_LOG_LabCluster"
REPEATED = "topic,queue_id,queue_offset,reconsume_times"
Row = dict[str, Any]
Place = tuple[str, str, int, int]


def found(root: Path, *options: str) -> dict[Place, Row]:
    rows = rows_of("pop", root, "--messages", "--format", "jsonl", *options)
    by_place = {(row["group"], row["topic"], row["queue_id"], row["queue_offset"]): row for row in rows}
    assert len(by_place) == len(rows)
    return by_place


def noted(name: str) -> dict[Place, Row]:
    """What the client noted; a message that it popped again is there with its retry topic."""
    return {
        (row["group"], row["realTopic"], row["queueId"], row["queueOffset"]): row for row in truth(name, "pop.json")
    }


def epoch_ms(text: str) -> int:
    return round(datetime.fromisoformat(text).timestamp() * 1000)


def copy_of(name: str) -> dict[tuple[str, int], Row]:
    """Messages of retry topics by unique id and number of retries."""
    records = [row for row in truth_lines(name, "messages.jsonl.gz") if row["type"] == "message"]
    return {(row["uniqKey"], row["reconsumeTimes"]): row for row in records if row["topic"].startswith("%RETRY%Pop")}


@pytest.mark.parametrize("name", POPPED)
def test_every_pop_and_acknowledgement_is_what_the_client_noted(name: str) -> None:
    told, pops = found(store_root(name)), noted(name)
    assert told.keys() == pops.keys()
    for place, row in told.items():
        pop = pops[place]
        assert row["unique_id"] == pop["msgId"]
        assert epoch_ms(row["popped_at"]) == pop["popTime"]
        assert epoch_ms(row["invisible_until"]) == pop["popTime"] + pop["invisibleTime"]
        assert row["revive_queue_id"] == pop["reviveQueue"]
        assert (row["state"] == "acked") == (row["acked_at"] is not None) == (pop["ack"] == "OK")
        assert (row["checkpoints"], row["reason"]) == (1, None)
    stored = {
        (row["topic"], row["queue_id"], row["queue_offset"]): row["reconsume_times"]
        for row in rows_of("dump", "commitlog", store_root(name), "--columns", REPEATED, "--format", "jsonl")
    }
    assert all(stored[place[1:]] == pop["reconsumeTimes"] for place, pop in pops.items())


@pytest.mark.parametrize("name", POPPED)
def test_what_was_delivered_again_is_in_the_retry_topic(name: str) -> None:
    pops, copies, again = noted(name), copy_of(name), 0
    for place, row in found(store_root(name)).items():
        copy = copies.get((row["unique_id"], pops[place]["reconsumeTimes"] + 1)) if place[0] == "PopG" else None
        if row["state"] == "acked":
            continue
        assert row["state"] == ("in_flight" if copy is None else "revived")
        if copy is not None:
            again += 1
            assert (row["retry_topic"], row["retry_queue_offset"]) == (copy["topic"], copy["queueOffset"])
            assert row["retry_physical_offset"] == copy["physicalOffset"]
            assert epoch_ms(row["revived_at"]) == copy["storeTimestamp"] > epoch_ms(row["invisible_until"])
    assert again == len(copies) > 0


@pytest.mark.parametrize("name", POPPED)
def test_the_lag_is_what_is_unread_and_what_is_not_acknowledged(name: str) -> None:
    ends = {(row["topic"], row["queueId"]): row["maxOffset"] for row in truth_lines(name, "queues.jsonl.gz")}
    offsets = truth(name, "broker_tables.json")["consumerOffsets"]
    states = Counter((place[:3], row["state"]) for place, row in found(store_root(name)).items())
    rows = rows_of("pop", store_root(name), "--format", "jsonl")
    assert {(row["group"], row["topic"], row["queue_id"]) for row in rows} == {queue for queue, _ in states}
    for row in rows:
        queue = row["group"], row["topic"], row["queue_id"]
        unread = ends[queue[1:]] - offsets[f"{queue[1]}@{queue[0]}"][str(queue[2])]
        assert (row["unread"], row["pop_lag"]) == (unread, unread + states[queue, "in_flight"])
        assert [row[state] for state in ("acked", "in_flight", "revived")] == [
            states[queue, state] for state in ("acked", "in_flight", "revived")
        ]
        assert row["popped"] == sum(count for (of, _), count in states.items() if of == queue)


@pytest.mark.parametrize("name", POPPED)
def test_the_revive_log_waits_for_what_is_in_flight(name: str) -> None:
    bodies = truth(name, "revive_and_trace.json")
    delivered = Counter(row["queueId"] for row in bodies if row["topic"] == REVIVE)
    offsets = truth(name, "broker_tables.json")["consumerOffsets"][f"{REVIVE}@CID_RMQ_SYS_REVIVE_GROUP"]
    waiting = Counter(row["revive_queue_id"] for row in found(store_root(name)).values() if row["state"] == "in_flight")
    rows = rows_of("pop", store_root(name), "--revive", "--format", "jsonl")
    assert {row["queue_id"] for row in rows} == delivered.keys()
    for row in rows:
        queue_id = row["queue_id"]
        assert (row["topic"], row["end"], row["unreadable"]) == (REVIVE, delivered[queue_id], 0)
        assert row["behind"] == row["end"] - 1 - offsets[str(queue_id)]
        assert (row["revive_offset"], row["messages"]) == (offsets[str(queue_id)], waiting[queue_id])
        assert row["waiting"] == row["checkpoints"] > 0, "their invisible time is ten minutes"


@pytest.mark.parametrize("name", POPPED)
def test_without_the_revive_services_offset_a_start_revives_once_more(name: str, tmp_path: Path) -> None:
    root = tmp_path / "store"
    copy_tree(store_root(name), root)
    for file in (root / "config").glob("consumerOffset.json*"):
        table = as_map(parse(file.read_bytes()))
        as_map(table["offsetTable"]).pop(f"{REVIVE}@CID_RMQ_SYS_REVIVE_GROUP", None)
        file.write_text(json.dumps(table), "utf-8")
    told, before = found(root), found(store_root(name))
    assert told.keys() == before.keys()
    assert {row["state"] for row in told.values()} >= {"revived"}
    for place, row in told.items():
        assert row["state"] == before[place]["state"]
        assert ("a start on these files" in (row["reason"] or "")) == (row["state"] == "revived")


@pytest.mark.parametrize("name", [name for name in store_names(subject="every message") if name not in POPPED])
def test_where_nobody_popped_there_is_no_row(name: str) -> None:
    options = [f"--config={key}={value}" for key, value in log_setting(name).items()]
    for view in ([], ["--messages"], ["--revive"]):
        assert rows_of("pop", store_root(name), *view, "--format", "jsonl", *options) == []


@pytest.mark.parametrize("name", POPPED)
@pytest.mark.parametrize("command", ["lag", "backlog", "ledger"])
def test_what_counts_by_offsets_says_that_groups_pop(name: str, command: str) -> None:
    called = call(command, store_root(name), "--format", "jsonl")
    assert "groups pop here" in called.err
    if command == "lag":
        told = {(row["group"], row["topic"]) for row in called.rows if "the group pops" in (row["reason"] or "")}
        assert told == {("PopG", "PopT"), ("PopG", "%RETRY%PopG_PopT"), ("PopLong", "PopT")}
    if command == "ledger":
        below = [row for row in called.rows if row["state"] == "consumed"]
        told = {(row["group"], row["topic"]) for row in below if not row["certain"]}
        assert told == {("PopG", "PopT"), ("PopG", "%RETRY%PopG_PopT"), ("PopLong", "PopT")}
        assert all(("the group pops" in (row["reason"] or "")) != row["certain"] for row in below)


@pytest.mark.parametrize("name", POPPED)
def test_backlog_and_revive_count_alike(name: str) -> None:
    asked = ("--group", "CID_RMQ_SYS_REVIVE_GROUP", "--format", "jsonl")
    unread = {row["queue_id"]: row["unread"] for row in rows_of("backlog", store_root(name), *asked)}
    behind = {
        row["queue_id"]: row["behind"] for row in rows_of("pop", store_root(name), "--revive", "--format", "jsonl")
    }
    assert unread == behind
    waiting = [row for row in rows_of("ledger", store_root(name), *asked) if row["state"] == "waiting"]
    assert {row["queue_id"]: row["messages"] for row in waiting} == behind
