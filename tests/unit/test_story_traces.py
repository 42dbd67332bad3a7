"""What clients traced of a message, in the words of its story."""

from __future__ import annotations

from typing import Any

import pytest

from pipelines.answers.journey.step import StoredRecord
from pipelines.answers.journey.steps import Trail, story

MESSAGE = StoredRecord("Orders", 3, 10, 5000, 1_000, "1.2.3.4:5", "AA", "U1", 0, "none")
EVENT = {
    "request_id": "R",
    "retry_times": None,
    "born_host": "h:1",
    "store_host": "b:1",
    "trace_topic": "T",
    "physical_offset": 1,
    "at_ms": 5_000,
    "client_host": None,
    "cost_ms": 3,
}
PUB = {**EVENT, "trace_type": "Pub", "group": "PG"}
AFTER = {**EVENT, "trace_type": "SubAfter", "group": "CG", "result": "SUCCESS", "success": True}


@pytest.mark.parametrize(
    ("success", "words"),
    [(True, "success"), (False, "stored, but not confirmed as flushed or copied"), (None, "end unknown")],
)
def test_a_send_that_was_not_confirmed_is_stored(success: bool | None, words: str) -> None:
    assert told("sent", {**PUB, "success": success}) == [("PG", None, f"from h:1 to b:1: {words} after 3 ms")]


def test_a_cost_that_is_not_known_is_left_out() -> None:
    assert told("sent", {**PUB, "success": True, "cost_ms": None}) == [("PG", None, "from h:1 to b:1: success")]
    (call,) = told("delivered", {**AFTER, "cost_ms": None})
    assert call[2].endswith("was done with it: SUCCESS, success")


def test_the_address_of_a_client_is_no_client_id() -> None:
    (sent,) = told("sent", {**PUB, "success": True, "client_host": "10.0.0.9"})
    assert (sent[1], "10.0.0.9" in sent[2]) == (None, True)


@pytest.mark.parametrize("group", ["CG", None])
def test_the_end_of_a_call_alone_tells_who_consumed_it(group: str | None) -> None:
    assert told("consumed", {**AFTER, "group": group}) == []
    assert [each[0] for each in told("delivered", {**AFTER, "group": group})] == [group]


def told(name: str, event: dict[str, Any]) -> list[tuple[str | None, str | None, str]]:
    steps = story(Trail(MESSAGE, [MESSAGE], 5000, ["index/1"], traces=[event]))
    return [(step.group, step.client_id, step.what) for step in steps if step.step == name]
