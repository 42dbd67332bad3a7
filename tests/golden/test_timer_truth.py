"""Timers of real brokers' stores, against the timer messages that they stand for."""

from __future__ import annotations

import pyarrow as pa
import pytest

from parsers.java import string_hash_code
from parsers.store import open_store
from parsers.timer import TIMER_RECORD_SCHEMA, read_timercheck, read_timerlog, read_wheel
from tests.support.stores import CLASSIC_KINDS, since, store_names, store_root, truth_lines

TIMER_TOPIC = "rmq_sys_wheel_timer"


since_5 = pytest.mark.parametrize("name", since(5, store_names(*CLASSIC_KINDS, "batchcq")))


@since_5
def test_every_timer_message_has_its_unit(name: str) -> None:
    timer = open_store(store_root(name)).timer
    table = pa.Table.from_batches(read_timerlog(timer), TIMER_RECORD_SCHEMA)
    messages = [line for line in truth_lines(name, "messages.jsonl.gz") if line.get("topic") == TIMER_TOPIC]
    found = {
        row["physical_offset"]: (row["msg_size"], row["real_topic_hash"], row["due_time"].timestamp() * 1000)
        for row in table.to_pylist()
    }
    assert found == {
        line["physicalOffset"]: (
            line["size"],
            string_hash_code(line["properties"]["REAL_TOPIC"]),
            int(line["properties"]["TIMER_OUT_MS"]),
        )
        for line in messages
    }


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
