"""Queues in a database as a start moves them: which it cuts, and the numbers at the ends of a long."""

from __future__ import annotations

import numpy as np

from parsers.rocksdb.queue_table import Limit
from parsers.values.java import LONG_MAX, LONG_MIN
from recovery.broker.mapped_file_queue import FileList
from recovery.broker.queue_database import DatabaseQueue, QueueDatabase, held
from recovery.broker.store_folder import QueueKey
from recovery.rules.dispatch import QueueUnit

KNOWN, STRANGE, UNTOLD = ("Known", 0), ("Strange", 0), ("Untold", 0)


def filled() -> QueueDatabase:
    """Three queues of two messages each, the second at the CommitLog byte 200."""
    database = QueueDatabase.loaded(None, FileList(1 << 20))
    for topic, queue_id in (KNOWN, STRANGE, UNTOLD):
        for number, place in enumerate((100, 200)):
            database.put(QueueUnit(topic, queue_id, number, place, 50, 0))
    return database


def test_a_truncation_leaves_out_queues_that_the_broker_does_not_know() -> None:
    """Before 5.3.2: those of its topics up to writeQueueNums are moved back."""

    def knows(key: QueueKey) -> bool | None:
        return {KNOWN: True, STRANGE: False, UNTOLD: None}[key]

    database = filled()
    database.truncate(150, knows)
    assert {key: queue.max_queue_offset for key, queue in database.queues.items()} == {KNOWN: 1, STRANGE: 2, UNTOLD: 2}
    assert (database.left_behind, database.undecided, database.refused) == ([STRANGE], [UNTOLD], [])


def test_the_number_behind_the_last_long_wraps_as_javas_does() -> None:
    queue = DatabaseQueue("T", 0, None, None, FileList(1 << 20), None, Limit(1000, LONG_MAX))
    assert queue.max_queue_offset == LONG_MIN


def test_a_failed_search_for_the_first_message_notes_the_last() -> None:
    """No unit of the queue is there to be found: the old number is answered once."""
    queue = DatabaseQueue("T", 0, None, None, FileList(1 << 20), Limit(-5, 0), Limit(900, 7))
    assert queue.min_queue_offset == 0
    queue.ask_first()
    assert (queue.first, queue.min_queue_offset) == (Limit(900, 7), 7)


def test_held_tells_the_wanted_offsets_that_are_there() -> None:
    offsets = np.array([3, 5, 9], np.int64)
    assert held(offsets, np.array([2, 3, 9, 10], np.int64)).tolist() == [False, True, True, False]
    assert not held(offsets[:0], offsets).any()
