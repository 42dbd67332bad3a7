"""Unread messages and the files they are in: a time, a proven nothing, or unknown with its reason."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from parsers.values.topics import SCHEDULE_TOPIC
from recovery.query.lag import GroupQueue, QueuePosition
from recovery.retention.retention import Retention, retention
from recovery.retention.risk import (
    GONE_UNDELIVERED,
    GONE_UNREAD,
    NO_LEVEL_OFFSET,
    NOTHING_LEFT,
    NOTHING_PENDING,
    NOTHING_UNREAD,
    RetentionRisk,
    delay_risks,
    retention_risks,
)
from recovery.rules.settings import StoreSettings
from tests.support.opened import opened
from tests.support.recovery_cases import golden_cases
from tests.support.recovery_judge import effective_settings

CASES = golden_cases()


@pytest.fixture(scope="module")
def kept() -> Retention:
    """A store whose three oldest files have expired, in a delete hour."""
    case = CASES.case("s533-clean-retention-001")
    with CASES.built(case) as root:
        now_ms = int((root / "commitlog" / f"{0:020d}").stat().st_mtime * 1000) + 100 * 3_600_000
        hour = timedelta(hours=(case["truth"]["localHour"] - now_ms // 3_600_000 + 11) % 24 - 11)
        settings = StoreSettings.from_config(effective_settings(case))
        told = retention(*opened(root, case["version"], settings), now_ms, 19, utc_offset=hour)
        _open_every_file(told)
        return told


def _open_every_file(told: Retention) -> None:
    """Map the queue files while they are there."""
    for queue in told.played.memory.queues.values():
        for file in queue.mapped.files:
            assert len(file.stored) in (0, file.size)


def _risk(kept: Retention, consumed: int | None, queue_id: int = 0, why: str | None = None) -> RetentionRisk:
    position = QueuePosition(None, None, consumed, why_unknown=why)
    return next(retention_risks(kept, [GroupQueue("g", "TopicA", queue_id, position)]))


def test_unread_messages_go_with_their_file(kept: Retention) -> None:
    oldest, newest = _risk(kept, 0), _risk(kept, kept.played.memory.queues["TopicA", 0].max_queue_offset - 1)
    assert (oldest.status, oldest.due_at_ms) == ("number", kept.clock.now_ms)
    assert newest.status == "number"
    assert newest.due_at_ms is not None
    assert newest.due_at_ms > kept.clock.now_ms
    assert (newest.unread_messages, newest.deleted_unread) == (1, 0)


def test_nothing_unread_is_a_proven_zero(kept: Retention) -> None:
    end = kept.played.memory.queues["TopicA", 0].max_queue_offset
    assert _risk(kept, end).status == "zero"
    assert _risk(kept, end + 5).unread_messages == 0
    assert _risk(kept, 0, queue_id=99).status == "zero"


def test_what_is_not_known_says_why(kept: Retention) -> None:
    assert _risk(kept, None).status == "unknown"
    assert _risk(kept, 0, why="the topic is not configured").reason == "the topic is not configured"
    stopped = replace(kept, why_not="the broker does not start")
    assert _risk(stopped, 0).reason == "the broker does not start"


def test_what_was_deleted_before_it_was_read_is_counted(kept: Retention) -> None:
    queue = kept.played.memory.queues["TopicA", 0]
    before = queue.min_position
    queue.min_position = 20 * 7
    assert _risk(kept, 3).deleted_unread == 4
    queue.min_position = before


def test_nothing_left_is_not_everything_consumed(kept: Retention) -> None:
    """A queue whose messages all expired has no unread one; that some were never read has to be said."""
    queue = kept.played.memory.queues["TopicA", 0]
    before, end = queue.min_position, queue.max_queue_offset
    queue.min_position = 20 * end
    some = _risk(kept, end - 2)
    assert (some.status, some.deleted_unread, some.reason) == ("zero", 2, GONE_UNREAD)
    assert _risk(kept, end).reason == NOTHING_UNREAD
    memory = kept.played.memory
    memory.queues[SCHEDULE_TOPIC, 2] = queue
    by_offsets = {3: end - 2}, {3: end}, dict[int, int]()
    undelivered, delivered, unknown = (next(delay_risks(kept, offsets)) for offsets in by_offsets)
    del memory.queues[SCHEDULE_TOPIC, 2]
    queue.min_position = before
    assert (undelivered.status, undelivered.expired_undelivered, undelivered.reason) == ("zero", 2, GONE_UNDELIVERED)
    assert (delivered.expired_undelivered, delivered.reason) == (0, NOTHING_PENDING)
    assert (unknown.pending_messages, unknown.expired_undelivered) == (0, None)
    assert unknown.reason == f"{NO_LEVEL_OFFSET}; {NOTHING_LEFT}"
