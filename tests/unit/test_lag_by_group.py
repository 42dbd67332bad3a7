"""The stored question `lag_by_group`: a figure that leaves something out says so, and no queue hides another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pipelines.lake.lake import Lake
from pipelines.lake.questions import question
from tests.support.small_lake import put

Queue = tuple[int | None, float | None]


def by_group(tmp_path: Path, *queues: Queue) -> dict[str, Any]:
    lake, of = Lake(tmp_path), {"broker": "b", "group": "g", "topic": "T"}
    rows = ({**of, "queue_id": n, "messages_behind": m, "seconds_behind": s} for n, (m, s) in enumerate(queues))
    put(lake, "lag", *rows)
    (row,) = lake.query(question("lag_by_group")).to_pylist()
    return {name: row[name] for name in ("messages_behind", "messages_behind_at_least", "seconds_behind")}


@pytest.mark.parametrize(
    ("queues", "messages", "at_least", "seconds"),
    [
        ([(5, 2.0), (4, 3.5)], 9, 9, 3.5),
        ([(5, 2.0), (None, None)], None, 5, None),
        ([(None, None)], None, 0, None),
        ([(5, 2.0), (-5, None)], 5, 5, None),
        ([(0, 0.0)], 0, 0, 0.0),
    ],
)
def test_what_is_not_known_of_a_queue_is_not_known_of_the_group(
    queues: list[Queue], messages: int | None, at_least: int, seconds: float | None, tmp_path: Path
) -> None:
    assert list(by_group(tmp_path, *queues).values()) == [messages, at_least, seconds]
