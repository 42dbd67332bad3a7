"""Rules of delayed messages that no golden store shows: timers that are deleted, offsets that are missing."""

from __future__ import annotations

import numpy as np

from parsers.topics import TIMER_TOPIC
from recovery.fates.delays import DELETED, DELETION, PASSED, PENDING, REASONS, Progress, Reason, fates_of
from recovery.fates.held import Held
from recovery.fates.held_kernel import NONE, HeldColumns

Row = tuple[int, int, int, int]
"""Message, due time, what it deletes, the hash of the whole key of that."""


def timers(*rows: Row, read_ms: int) -> list[tuple[int, Reason]]:
    """The fate of timers that lie in the log one after another, all for one topic and stored at 1000."""
    count = len(rows)
    message, due, deletes, key = np.array(rows, np.int64).T
    place, zero, none = np.arange(count) * 100, np.zeros(count, np.int32), np.full(count, NONE, np.int64)
    own = np.stack((due, none, deletes, key))
    stored = np.full(count, 1000, np.int64)
    topic = np.ones(count, np.int32)
    columns = HeldColumns(place, stored, np.arange(count), message, none, zero, zero, topic, zero, zero, own)
    fates = fates_of(Held(columns, [TIMER_TOPIC, "T"]), due, Progress({}, read_ms, count))
    return [(int(state), REASONS[reason]) for state, reason in zip(fates.state, fates.reason, strict=True)]


def test_a_deletion_counts_when_it_is_due_with_the_timer() -> None:
    for read_ms in (0, 9000):
        found = timers((1, 5000, NONE, NONE), (7, 5000, 1, 99), read_ms=read_ms)
        assert found == [(DELETED, Reason.DELETED), (DELETION, Reason.NONE)]


def test_a_deletion_due_at_another_time_or_without_topic_is_told_as_a_doubt() -> None:
    for deletion in ((7, 6000, 1, 99), (7, 5000, 1, 1)):
        for read_ms, state in ((0, PENDING), (9000, PASSED)):
            assert timers((1, 5000, NONE, NONE), deletion, read_ms=read_ms)[0] == (state, Reason.PERHAPS_DELETED)
