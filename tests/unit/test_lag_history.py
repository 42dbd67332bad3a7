"""The lake's history of lag where a message of the queue is not in the log any more."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from pipelines.ingest.derive import write_lag_history
from pipelines.lake.lake import Lake
from recovery.query.lag import NOT_STORED, NOTHING_TO_READ
from tests.support.small_lake import put

STORED = datetime(2026, 11, 21, 15, tzinfo=UTC)
QUEUE = {"broker": "b", "file": "of/the/store", "topic": "T", "queue_id": 0}


@pytest.mark.parametrize(
    ("consumed", "behind", "seconds", "unknown"),
    [(5, 5, None, True), (9, 1, 4.0, False), (10, 0, 0.0, False), (12, -2, None, False)],
)
def test_seconds_are_not_known_where_the_oldest_unread_message_is_not_found(
    consumed: int, behind: int, seconds: float | None, unknown: bool, tmp_path: Path
) -> None:
    """DuckDB's greatest(0.0, NULL) is 0.0: the table said 0 seconds beside the reason why they are unknown."""
    row = history(tmp_path, consumed, messages=10)
    assert (row["messages_behind"], row["seconds_behind"]) == (behind, seconds)
    assert (row["reason"] or "").startswith("seconds unknown") == unknown


def test_unread_messages_that_were_deleted_leave_the_seconds_unknown_too(tmp_path: Path) -> None:
    assert history(tmp_path, 5, messages=2)["reason"].startswith("3 of them were deleted unread; seconds unknown: ")
    assert history(tmp_path, 5, messages=1)["reason"] == "4 of them were deleted unread"


def test_queues_without_an_offset_count_from_0_as_in_the_lag_of_a_store(tmp_path: Path) -> None:
    """A group that had read all of one queue and nothing of another was 0 behind in the lake, and not in `lag`."""
    lake = Lake(tmp_path)
    topic = {"broker": "b", "file": "of/the/store", "topic": "T"}
    put(lake, "topic_configs", {**topic, "written_at": STORED, "read_queue_nums": 3})
    ends = dict(enumerate((10, 8, 0, 5)))
    queues = [{**topic, "queue_id": queue, "max_queue_offset": end, "messages": end} for queue, end in ends.items()]
    put(lake, "queues", *queues)
    last = [(queue, end) for queue, end in ends.items() if end]
    units = [{**topic, "queue_id": queue, "queue_offset": end - 1, "physical_offset": queue} for queue, end in last]
    put(lake, "consumequeue_units", *units)
    messages = [{**topic, "physical_offset": queue, "store_timestamp": STORED} for queue, _ in last]
    put(lake, "commitlog_messages", *messages)
    offset = {**topic, "group": "g", "kind": "push", "queue_id": 0, "consumer_offset": 10}
    put(lake, "offset_snapshots", {**offset, "written_at": STORED + timedelta(seconds=4)})
    write_lag_history(lake)
    asked = "SELECT queue_id, messages_behind, seconds_behind, reason FROM lag_history ORDER BY queue_id"
    rows = [tuple(row.values()) for row in lake.query(asked).to_pylist()]
    assert rows == [(0, 0, 0.0, None), (1, 8, None, NOT_STORED), (2, 0, 0.0, NOTHING_TO_READ)], "3 is not read"


def history(tmp_path: Path, consumed: int, *, messages: int) -> dict[str, Any]:
    """Of a queue up to 10 that has these many messages and of which number 9 alone is in the log."""
    lake = Lake(tmp_path)
    put(lake, "topic_configs", QUEUE)
    put(lake, "queues", {**QUEUE, "max_queue_offset": 10, "messages": messages})
    put(lake, "consumequeue_units", {**QUEUE, "queue_offset": 9, "physical_offset": 700})
    put(lake, "commitlog_messages", {**QUEUE, "physical_offset": 700, "store_timestamp": STORED})
    snapshot = {"group": "g", "kind": "push", "consumer_offset": consumed}
    put(lake, "offset_snapshots", {**QUEUE, **snapshot, "written_at": STORED + timedelta(seconds=4)})
    write_lag_history(lake)
    (row,) = lake.query("SELECT messages_behind, seconds_behind, reason FROM lag_history").to_pylist()
    return row
