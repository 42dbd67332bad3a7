"""Which groups of a lake are looked at for episodes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from parsers.values.utc import utc
from pipelines.answers.episodes.of_lake import lake_episodes
from pipelines.lake.configuration.sources import BrokerSource, Sources
from pipelines.lake.lake import Lake
from tests.support.small_lake import put

LAG = {"broker": "b", "group": "g", "topic": "T", "consumer_offset": 0}


def row(second: int, queue_id: int, end: int | None) -> dict[str, Any]:
    status = "unknown" if end is None else "number" if end else "zero"
    told = {"broker_offset": end, "messages_behind": end, "status": status}
    return {**LAG, "queue_id": queue_id, "at": utc(second * 1000), **told}


def test_a_queue_that_is_not_known_for_a_time_is_behind_all_the_same(tmp_path: Path) -> None:
    """At no instant are both queues known, and both are 60 behind throughout."""
    lake = Lake(tmp_path)
    ends = [(0, 0), (60, None), (None, 60), (60, None), (None, 60), (60, None), (0, 0)]
    put(lake, "lag_history", *(row(s, q, end) for s, pair in enumerate(ends) for q, end in enumerate(pair)))
    found = list(lake_episodes(lake, Sources(lake.root, (BrokerSource("b", tmp_path / "store"),))))
    assert [episode["peak_messages"] for episode in found] == [120]
