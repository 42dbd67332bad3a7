"""Lag arithmetic: numbers, proven zeros, and unknowns with their reason."""

from __future__ import annotations

import pytest

from recovery.lives.offset_lives import DoubtfulOffset, OffsetLife
from recovery.query.lag import (
    NO_FILES,
    NOT_STORED,
    Lag,
    QueuePosition,
    group_queues,
    lag_rows,
    queue_lag,
    unread_messages,
)

AT = 1_000_000


def lag(position: QueuePosition) -> Lag:
    return queue_lag("G", "T", 0, AT, position)


@pytest.mark.parametrize(
    ("position", "behind", "seconds", "status"),
    [
        (QueuePosition(421, 0, 207, oldest_unread_ms=AT - 2500), 214, 2.5, "number"),
        (QueuePosition(11, 0, 11), 0, 0.0, "zero"),
        (QueuePosition(0, 0, None), 0, 0.0, "zero"),
        (QueuePosition(298, 0, None), 298, None, "number"),
        (QueuePosition(10, 0, -1, oldest_unread_ms=AT), 10, 0.0, "number"),
        (QueuePosition(10, 0, 12), -2, None, "number"),
        (QueuePosition(None, None, 5), None, None, "unknown"),
        (QueuePosition(10, 0, 5), 5, None, "number"),
        (QueuePosition(10, 0, 5, oldest_unread_ms=AT + 1), 5, 0.0, "number"),
    ],
)
def test_figures(position: QueuePosition, behind: int | None, seconds: float | None, status: str) -> None:
    row = lag(position)
    assert (row.messages_behind, row.seconds_behind, row.status) == (behind, seconds, status)


@pytest.mark.parametrize(
    ("position", "reason"),
    [
        (QueuePosition(298, 0, None), NOT_STORED),
        (QueuePosition(0, 0, None), "the store has no message of this queue"),
        (QueuePosition(10, 0, 12), "ahead of the queue"),
        (QueuePosition(100, 40, 30, oldest_unread_ms=1), "10 of them were deleted unread"),
        (QueuePosition(100, 100, 30), "70 of them were deleted unread; seconds unknown: "),
        (QueuePosition(10, 0, 5), "seconds unknown"),
        (QueuePosition(None, None, 5, why_unknown="because"), "because"),
    ],
)
def test_reasons(position: QueuePosition, reason: str) -> None:
    assert reason in (lag(position).reason or "")


def test_of_an_offset_below_0_no_message_was_deleted_before_0() -> None:
    assert lag(QueuePosition(25, 0, -5, oldest_unread_ms=1)).reason is None
    assert lag(QueuePosition(25, 3, -5, oldest_unread_ms=1)).reason == "3 of them were deleted unread"


def test_every_read_queue_counts_with_an_offset_or_without() -> None:
    offsets = {("G", "T"): {0: 5, 7: 9}, ("G", "%LMQ%a"): {0: 2}, ("G", "Gone"): {1: 3}}
    queues = list(group_queues(offsets, {"T": 3}, {("T", 0): (0, 8), ("T", 1): (2, 6), ("%LMQ%a", 0): (0, 2)}))
    rows = list(lag_rows(queues, {("T", 0, 5): AT - 1000}, AT))
    assert [
        (r.topic, r.queue_id, r.broker_offset, r.consumer_offset, r.messages_behind, r.seconds_behind) for r in rows
    ] == [
        ("%LMQ%a", 0, 2, 2, 0, 0.0),
        ("Gone", 1, None, 3, None, None),
        ("T", 0, 8, 5, 3, 1.0),
        ("T", 1, 6, 0, 6, None),
        ("T", 2, 0, 0, 0, 0.0),
    ]
    assert unread_messages(queues) == {("T", 0, 5)}


def test_deleted_messages_are_not_asked_for() -> None:
    queues = list(group_queues({("G", "T"): {0: 5}}, {"T": 1}, {("T", 0): (7, 9)}))
    assert unread_messages(queues) == {("T", 0, 7)}


def test_of_impossibly_many_queues_only_those_that_were_met_count() -> None:
    ends = {("T", 3): (0, 8), ("U", 4): (0, 1)}
    queues = list(group_queues({("G", "T"): {0: 5}}, {"T": 2**31 - 1}, ends))
    assert [queue.queue_id for queue in queues] == [0, 3]


def test_an_offset_that_may_be_of_a_former_life_says_what_it_would_skip() -> None:
    doubt = DoubtfulOffset("g", "T", 0, 5, 0, 8, 5, OffsetLife.UNKNOWN)
    row = queue_lag("g", "T", 0, 0, QueuePosition(8, 0, 5, 0, doubt=doubt))
    assert (row.messages_behind, row.status) == (3, "number")
    assert row.reason is not None
    assert "the 5 living messages before it were never read" in row.reason


def test_a_queue_without_files_says_why_it_counts_from_0() -> None:
    stored = {("G", "T"): {0: 0, 1: 4, 2: 8}}
    queues = list(group_queues(stored, {"T": 3}, {("T", 2): (0, 8)}))
    rows = list(lag_rows(queues, {}, AT))
    assert [(row.messages_behind, row.status) for row in rows] == [(0, "zero"), (-4, "number"), (0, "zero")]
    assert [row.reason for row in rows] == [NO_FILES, f"the offset is ahead of the queue: {NO_FILES}", None]
