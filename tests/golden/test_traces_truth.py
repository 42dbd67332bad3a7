"""Message trace of a real cluster: every record that its clients wrote, and what it adds to the story of a message."""

from __future__ import annotations

import gzip
import json
from typing import Any

from tests.support.cli import call
from tests.support.fixtures import GOLDEN
from tests.support.stores import store_root, truth_lines

NAME = "5.3.3-pop"
ROOT = store_root(NAME)


def told() -> list[dict[str, Any]]:
    """The trace messages as RocketMQ's own classes read them."""
    with gzip.open(GOLDEN / "stores" / NAME / "truth" / "revive_and_trace.json.gz", "rt") as text:
        return [each for each in json.load(text) if each["topic"] == "RMQ_SYS_TRACE_TOPIC"]


def test_every_record_of_every_trace_message_is_a_row() -> None:
    rows = call("traces", ROOT, "--messages", "--format", "jsonl").rows
    expected = [
        (message["queueId"], message["queueOffset"], number, *record.split("\x01"))
        for message in told()
        for number, record in enumerate(filter(None, message["body"].split("\x02")))
    ]
    found = [
        (
            row["queue_id"],
            row["queue_offset"],
            row["record_number"],
            row["trace_type"],
            row["message_id"],
            row["cost_ms"],
        )
        for row in rows
    ]
    assert sorted(found) == sorted((*each[:4], each[8], int(each[13])) for each in expected)
    assert {row["problem"] for row in rows} == {None}


def test_what_is_traced_is_what_the_log_has() -> None:
    """Each traced send names a record of the log by its message id, with that record's unique id and topic."""
    stored = {
        f"7F00000100002A9F{each['physicalOffset']:016X}": each
        for each in truth_lines(NAME, "messages.jsonl.gz")
        if each["type"] == "message"
    }
    rows = call("traces", ROOT, "--messages", "--format", "jsonl").rows
    assert rows
    for row in rows:
        record = stored[row["offset_message_id"]]
        assert row["message_id"] == record["properties"]["UNIQ_KEY"]
        assert row["topic"] == record["properties"].get("REAL_TOPIC", record["topic"])


def test_the_story_of_a_traced_message_begins_with_its_send() -> None:
    (row, *_) = call("traces", ROOT, "--messages", "--format", "jsonl").rows
    steps = call("who", ROOT, "--message-id", row["message_id"], "--format", "jsonl").rows
    assert (steps[0]["step"], steps[0]["group"], steps[0]["at"]) == ("sent", row["group"], row["at"])
    assert [step["step"] for step in steps].count("sent") == 1


def test_sums_are_those_of_the_records() -> None:
    rows = call("traces", ROOT, "--messages", "--format", "jsonl").rows
    (total,) = call("traces", ROOT, "--format", "jsonl").rows
    costs = [row["cost_ms"] for row in rows]
    assert (total["records"], total["failed"], total["most_cost_ms"]) == (len(rows), 0, max(costs))
    assert total["mean_cost_ms"] == round(sum(costs) / len(costs))
