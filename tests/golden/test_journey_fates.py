"""The way of messages that a broker held back, step by step: waits for a level, pops, acknowledgements, revivals.

The judges are what the popping client noted, and the answers of the incidents.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from parsers.store.store import open_store
from recovery.fates.pops import pops
from recovery.knowledge.inference import infer
from recovery.lives.topic_lives import StoreLives
from tests.support.cli import rows_of
from tests.support.incidents import incident, incident_names
from tests.support.stores import store_names, store_root, truth

MESSAGES = 6
"""Of each store, at random."""
Row = dict[str, Any]


def way(root: Path, message_id: str) -> list[Row]:
    return rows_of("who", root, "--message-id", message_id, "--format", "jsonl")


def instants(steps: Iterable[Row], name: str) -> list[tuple[str | None, int]]:
    """Group and epoch ms of each step of this name, in order."""
    named = [step for step in steps if step["step"] == name]
    return sorted((step["group"], round(datetime.fromisoformat(step["at"]).timestamp() * 1000)) for step in named)


@pytest.mark.parametrize("name", store_names("pop"))
def test_each_pop_that_the_client_noted_is_a_step(name: str) -> None:
    noted = truth(name, "pop.json")
    for message_id in random.Random(16).sample(sorted({row["msgId"] for row in noted}), MESSAGES):
        steps = way(store_root(name), message_id)
        pops = [row for row in noted if row["msgId"] == message_id]
        assert instants(steps, "popped") == sorted((row["group"], row["popTime"]) for row in pops)
        acked = [step["group"] for step in steps if step["step"] == "acked"]
        assert sorted(acked) == sorted(row["group"] for row in pops if row["ack"] == "OK")
        open_ = [row for row in pops if row["ack"] != "OK"]
        again = [step for step in steps if step["step"] in ("revived", "in_flight")]
        assert sorted(step["group"] for step in again) == sorted(row["group"] for row in open_)
        in_retry_topic = {row["group"] for row in pops if row["realTopic"].startswith("%RETRY%")}
        assert {step["group"] for step in steps if step["step"] == "retried"} >= in_retry_topic
        assert not any(step["certain"] for step in steps if step["step"] == "committed")


@pytest.mark.parametrize("name", incident_names("delay-overdue"))
def test_a_delayed_message_is_due_when_the_incident_says(name: str) -> None:
    case = incident(name)
    messages = case.told()["answers"]["messages"]
    by_state = {message["deliveredAt"] is None: message for message in messages}
    for message in [*by_state.values(), *random.Random(16).sample(messages, MESSAGES)]:
        (due,) = [step for step in way(case.root, message["uniqKey"]) if step["step"] == "due"]
        assert round(datetime.fromisoformat(due["at"]).timestamp() * 1000) == message["dueAt"]
        if message["deliveredAt"] is None:
            assert "pending" in due["what"]
        else:
            assert f"{message['lateMs']} ms late" in due["what"]


@pytest.mark.parametrize("name", store_names())
def test_a_log_without_revive_log_is_not_read_for_pops(name: str) -> None:
    store = open_store(store_root(name))
    known = infer(store)
    topics = StoreLives(store, known)().topics
    whole, spared = (pops(store, known, None, pytest.fail, each).log for each in (None, topics))
    assert len(spared.entries.record) == len(whole.entries.record)
    assert not len(pops(store, known, None, pytest.fail, ["Orders"]).log.held.topics)
