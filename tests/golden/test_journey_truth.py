"""The way of messages of recorded clusters: where each was stored, who was handed it, and when its group was past it.

The judges are what the producers were answered, and what the listeners of the consumers wrote when they were called.
"""

from __future__ import annotations

import random
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from pipelines.answers.journey.evidence import commits_in, pulls_in, trail_in_store
from pipelines.answers.journey.step import Step
from pipelines.answers.journey.steps import story
from rebalance.replay import replay
from recovery.lives.topic_lives import StoreLives
from recovery.query.query import StoreQuery
from tests.support.cli import call
from tests.support.fixtures import unpacked
from tests.support.opened import opened
from tests.support.rebalance_sessions import SESSIONS, json_lines, sessions_with, wire_facts

MESSAGES = 12
"""Of each cluster, at random."""


@sessions_with("store.tar.gz")
def test_each_message_went_where_its_listeners_say(session: Path) -> None:
    top = unpacked(session / "store.tar.gz")
    store, known = opened(next(path.parent for path in sorted(top.rglob("commitlog"))))
    query, lives, facts = StoreQuery(store, known), StoreLives(store, known), wire_facts(session)
    intervals, calls = replay(facts).intervals, calls_of_listeners(session)
    sends = [each for each in json_lines(session / "truth" / "producer.jsonl.gz") if each.get("status") == "SEND_OK"]
    seen = 0
    for send in random.Random(16).sample(sends, MESSAGES):
        trail = trail_in_store(store, query, send["msgId"], lives, lambda damage: None)
        if trail is None:
            continue  # another broker has it
        message = trail.message
        assert (message.topic, message.queue_id, message.queue_offset) == (
            send["topic"],
            send["queueId"],
            send["queueOffset"],
        )
        place = message.topic, message.queue_id
        trail.commits, trail.pulls = list(commits_in(facts, message)), list(pulls_in(facts, message))
        trail.intervals = [row for row in intervals if (row.topic, row.queue_id) == place]
        check(story(trail), send, calls[send["msgId"]])
        seen += 1
    assert seen > 2


@pytest.mark.parametrize(("name", "certain"), [("", True), ("broker-0", True), ("another", False)])
def test_recorded_steps_are_certain_where_the_broker_is_named(name: str, certain: bool, tmp_path: Path) -> None:
    """The store's own topics name it; brokerName of a broker.conf wins."""
    (session,) = (path for path in SESSIONS if path.name == "a-533-join-leave-kill")
    top = unpacked(session / "store.tar.gz")
    root = next(path.parent for path in sorted(top.rglob("commitlog")))
    conf = tmp_path / "broker.conf"
    conf.write_text(f"brokerName={name}\nmappedFileSizeCommitLog=1048576\n")
    sends = [each for each in json_lines(session / "truth" / "producer.jsonl.gz") if each.get("status") == "SEND_OK"]
    asked = ["who", root, "--message-id", sends[5]["msgId"], "--logs", session / "wire.jsonl.gz"]
    rows = call(*asked, "--broker-conf", conf, "--format", "jsonl").rows
    recorded = [row["certain"] for row in rows if row["step"] in ("owned", "committed") and "wire" in row["evidence"]]
    assert any(recorded) == certain
    assert recorded


def check(steps: list[Step], send: dict[str, Any], calls: list[dict[str, Any]]) -> None:
    """`calls`: of listeners with this message, by any consumer."""
    first = steps[0]
    assert first.step == "sent"
    assert first.at_ms is not None
    assert first.at_ms <= send["ts"]
    clients = {call["client"] for call in calls}
    maybe = {step.client_id for step in steps if step.step in ("owned", "pulled")}
    assert clients <= maybe, send["msgId"]
    for step in steps:
        if step.step == "committed" and step.certain and calls:
            assert step.at_ms is not None
            assert step.at_ms >= min(call["ts"] for call in calls), send["msgId"]


def calls_of_listeners(session: Path) -> dict[str, list[dict[str, Any]]]:
    """Unique id -> when listeners were called with the message, and whose."""
    calls: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for path in sorted((session / "truth").glob("*.jsonl.gz")):
        if path.name not in ("producer.jsonl.gz", "polls.jsonl.gz"):
            for line in json_lines(path):
                if line.get("ev") == "begin":
                    calls[line["msgId"]].append(line)
    return calls
