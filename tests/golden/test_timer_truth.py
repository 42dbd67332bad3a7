"""Timers of real brokers' stores, against the timer messages that they stand for."""

from __future__ import annotations

import pyarrow as pa
import pytest

from parsers.store.store import open_store
from parsers.timer.check import read_timercheck
from parsers.timer.log import read_timerlog
from parsers.timer.schema import TIMER_RECORD_SCHEMA
from parsers.timer.wheel import read_wheel
from parsers.values.java import string_hash_code
from tests.support.stores import CLASSIC_KINDS, MORE_KINDS, since, store_names, store_root, truth, truth_lines

TIMER_TOPIC = "rmq_sys_wheel_timer"


KINDS = (*CLASSIC_KINDS, *MORE_KINDS, "batchcq", "ha-clean", "ha-behind", "ha-ahead", "dledger3")
since_5 = pytest.mark.parametrize("name", since(5, store_names(*KINDS, subject="queues")))


@since_5
def test_every_timer_message_has_its_unit(name: str) -> None:
    """A message that is due after the wheel's window has a unit that rolls: due when it is looked at again."""
    timer = {file.kind: file for file in open_store(store_root(name)).timer}
    table = pa.Table.from_batches(read_timerlog(list(timer.values())), TIMER_RECORD_SCHEMA)
    enqueued = read_timercheck(timer["timercheck"])["last_queue_offset"]
    messages = {
        line["physicalOffset"]: line
        for line in truth_lines(name, "messages.jsonl.gz")
        if line.get("topic") == TIMER_TOPIC and line["queueOffset"] < enqueued
    }
    assert sorted(table["physical_offset"].to_pylist()) == sorted(messages)
    for row in table.to_pylist():
        message = messages[row["physical_offset"]]
        due_ms, told_ms = row["due_time"].timestamp() * 1000, int(message["properties"]["TIMER_OUT_MS"])
        assert due_ms < told_ms if row["is_rolled"] else due_ms == told_ms
        assert row["msg_size"] == message["size"]
        assert row["real_topic_hash"] == string_hash_code(message["properties"]["REAL_TOPIC"])


@since_5
def test_the_wheel_counts_the_units(name: str) -> None:
    timer = {file.kind: file for file in open_store(store_root(name)).timer}
    table = pa.Table.from_batches(read_timerlog(list(timer.values())), TIMER_RECORD_SCHEMA)
    slots = read_wheel(timer["timerwheel"]).to_pylist()
    assert sum(slot["timer_count"] for slot in slots) == len(table)
    positions = set(table["position"].to_pylist())
    assert {slot["last_position"] for slot in slots} <= positions
    check = read_timercheck(timer["timercheck"])
    assert check["last_queue_offset"] == len(table)


@pytest.mark.parametrize("name", since(5, store_names("pop")))
def test_timercheck_is_the_brokers_own_count(name: str) -> None:
    """`timer.json` was taken before the shutdown, which lets the wheel turn on and takes no timer in."""
    told = {field: int(number) for field, number in truth(name, "timer.json").items()}
    timer = {file.kind: file for file in open_store(store_root(name)).timer}
    check = read_timercheck(timer["timercheck"])
    assert check["last_queue_offset"] == check["master_queue_offset"] == told["commitQueueOffset"]
    assert check["last_queue_offset"] == told["currQueueOffset"] == told["lastCommitQueueOffset"]
    assert check["last_read_time_ms"] >= told["commitReadTimeMs"] == told["currReadTimeMs"]
    assert sum(batch.num_rows for batch in read_timerlog([timer["timerlog"]])) == told["currQueueOffset"]
