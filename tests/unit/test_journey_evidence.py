"""What a message's story is made of: each record by its own broker, each connection by the client that it is of."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pipelines.answers.journey.evidence import commits_in, trail_in_lake
from pipelines.answers.journey.step import StoredRecord
from pipelines.answers.journey.steps import story
from pipelines.lake.lake import Lake
from rebalance.facts import HeartbeatReceived, OffsetCommitted
from rebalance.facts.fact import Evidence
from rebalance.model.message_queue import MessageQueue
from tests.support.small_lake import put

AT = datetime(2026, 11, 22, tzinfo=UTC)


def record(broker: str, topic: str, physical_offset: int) -> dict[str, Any]:
    return {
        "broker": broker,
        "topic": topic,
        "queue_id": 0,
        "queue_offset": 1,
        "physical_offset": physical_offset,
        "file": "0",
        "store_timestamp": AT,
        "born_timestamp": AT,
        "message_id": f"{broker}{physical_offset}".upper(),
        "unique_id": "U",
        "reconsume_times": 0,
        "transaction_type": "none",
    }


def unit(broker: str, physical_offset: int) -> dict[str, Any]:
    return {"broker": broker, "topic": "Orders", "queue_id": 0, "queue_offset": 1, "physical_offset": physical_offset}


def test_a_message_of_a_lake_is_asked_of_its_own_broker(tmp_path: Path) -> None:
    """A copy lies on a broker whose log is shorter: its physical offset is lower than the message's."""
    lake = Lake(tmp_path)
    put(lake, "commitlog_messages", record("a", "%RETRY%G", 10), record("b", "Orders", 900))
    put(lake, "consumequeue_units", unit("b", 900))
    for asked in ("U", "B900"):
        trail = trail_in_lake(lake, asked)
        assert trail is not None
        assert (trail.message.topic, trail.broker, trail.unit_points_to) == ("Orders", "b", 900)


def test_traces_of_a_lake_are_found_whatever_the_case(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    put(lake, "commitlog_messages", {**record("a", "Orders", 10), "unique_id": "ab"})
    put(lake, "trace_events", {"broker": "a", "trace_type": "Pub", "message_id": "x,AB", "at": AT})
    trail = trail_in_lake(lake, "ab")
    assert trail is not None
    assert [event["trace_type"] for event in trail.traces] == ["Pub"]


def test_a_lake_tells_what_became_of_waits_and_pops(tmp_path: Path) -> None:
    """Its own broker's rows alone, by unique id."""
    lake = Lake(tmp_path)
    put(lake, "commitlog_messages", record("a", "Orders", 10), record("a", "%RETRY%G_Orders", 20))
    popped = {"group": "G", "topic": "Orders", "queue_id": 0, "queue_offset": 1, "unique_id": "U", "popped_at": AT}
    stated = {**popped, "source": "revive_log", "state": "revived", "physical_offset": 10, "checkpoints": 1}
    revived = {**stated, "revived_at": AT, "retry_topic": "%RETRY%G_Orders", "retry_queue_offset": 5}
    put(lake, "popped_messages", {"broker": "a", **revived}, {"broker": "b", **stated, "group": "H"})
    put(lake, "queues", {"broker": "a", "topic": "Orders", "queue_id": 0})
    trail = trail_in_lake(lake, "U")
    assert trail is not None
    told = [(step.step, step.group) for step in story(trail) if step.step in ("popped", "revived", "retried")]
    assert sorted(told) == [("popped", "G"), ("retried", "G"), ("revived", "G")]


def heartbeat(at_ms: int, client_id: str) -> HeartbeatReceived:
    return HeartbeatReceived(
        at_ms=at_ms, source="b", evidence=Evidence("w", at_ms), group="G", remote="10.0.0.1:7", client_id=client_id
    )


def test_a_port_that_two_clients_had_names_neither() -> None:
    queue = MessageQueue("Orders", "b", 3)
    commit = OffsetCommitted(
        at_ms=5, source="b", evidence=Evidence("w", 3), group="G", remote="10.0.0.1:7", queue=queue, queue_offset=11
    )
    message = StoredRecord("Orders", 3, 10, 5000, 1_000, "1.2.3.4:5", "AA", "U1", 0, "none")
    for ids, named in ((["c1"], "c1"), (["c1", "c2"], None)):
        facts = [*(heartbeat(number, each) for number, each in enumerate(ids)), commit]
        assert [each.client_id for each in commits_in(facts, message)] == [named]
