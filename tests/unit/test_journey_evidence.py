"""What a message's story is made of: each record by its own broker, each connection by the client that it is of."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pipelines.answers.journey.evidence import trail_in_lake
from pipelines.lake.lake import Lake
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
