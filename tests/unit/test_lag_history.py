"""The lake's history of lag where a message of the queue is not in the log any more."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from pipelines.ingest.derive import write_lag_history
from pipelines.lake.lake import Lake
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
