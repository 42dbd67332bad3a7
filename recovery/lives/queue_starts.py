"""Where a queue of a topic started again: its numbers fall, and its own units say whether that is a new start."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from parsers.kernels.arrays import Longs
from parsers.queues.queue import Queue
from parsers.store.store_file import QueueKey
from parsers.values.java import INT_MAX
from recovery.lives.life import NEVER
from recovery.lives.numbering import (
    EARLIEST,
    END_AT,
    FIRST,
    FIRST_AT,
    LAST,
    LAST_AT,
    LATEST,
    MESSAGES,
    SIZE,
    UNKNOWN_MS,
    together,
)

MOST_STRETCHES = 1 << 10
"""Stretches of one queue that are looked at; numbers that fall more often are damage, not lives."""


@dataclass(frozen=True, slots=True)
class QueueStarts:
    """The queues of one topic as the store holds them: what they say of stretches of messages in the log, which ends at
    `log_end`."""

    topic: str
    queues: Mapping[QueueKey, Queue]
    log_end: int

    def stretches_of(self, queue_id: int, rows: Longs) -> Longs:
        """The stretches of a queue that start where it started again; a damaged number starts none. Of a life whose
        messages the log lost there is one with the queue's units alone."""
        rows = self._without_gaps(queue_id, rows)
        kept = [rows[0]]
        for row in rows[1:MOST_STRETCHES]:
            if self._starts_again(queue_id, kept[-1], row):
                kept.append(row)
            else:
                kept[-1] = together(kept[-1], row)
        lost = self._started_past_the_log(queue_id, kept[-1])
        return np.array(kept if lost is None else [*kept, lost])

    def _started_past_the_log(self, queue_id: int, before: Longs) -> Longs | None:
        """The stretch without a message of a queue whose first unit leads past the end of the log, which ended early.

        Numbers rise along the log: what it has of the queue is of a life before, whose numbers lead there, too.
        """
        first_place = self._place(queue_id, 0)
        if first_place is None or first_place < self.log_end:
            return None
        numbers = (int(before[FIRST]), (int(before[FIRST]) + int(before[LAST])) // 2, int(before[LAST]))
        places = (self._place(queue_id, number) for number in numbers)
        if any(place is not None and place < self.log_end for place in places):
            return None
        lost = before.copy()
        lost[[FIRST, LAST, MESSAGES, SIZE]] = 0, self.queues[self.topic, queue_id].ends(0)[1] - 1, 0, 0
        lost[[FIRST_AT, LAST_AT, END_AT]] = first_place
        lost[[EARLIEST, LATEST]] = UNKNOWN_MS
        return lost

    def _without_gaps(self, queue_id: int, rows: Longs) -> Longs:
        """The stretches, those as one between which the log only lost messages of the same life."""
        kept = [rows[0]]
        for row in rows[1:]:
            if row[FIRST] <= kept[-1][LAST] or self._starts_in_gap(queue_id, kept[-1], row):
                kept.append(row)
            else:
                kept[-1] = together(kept[-1], row)
        return np.array(kept)

    def _starts_in_gap(self, queue_id: int, before: Longs, row: Longs) -> bool:
        """Whether the queue started again among messages that the log lost between two stretches of rising numbers.

        Its units of the numbers before then lead to bytes between the two, and the next one to the next message.
        """
        if self._place(queue_id, int(row[FIRST])) != row[FIRST_AT]:
            return False
        numbers = {int(before[FIRST]), (int(before[FIRST]) + int(before[LAST])) // 2, int(before[LAST])}
        places = [place for number in numbers if (place := self._place(queue_id, number)) is not None]
        return bool(places) and all(before[END_AT] <= place < row[FIRST_AT] for place in places)

    def _starts_again(self, queue_id: int, before: Longs, row: Longs) -> bool:
        """Whether the queue itself started again: its unit of that number says so; without it, its numbers do.

        Where the unit before it is of a message before it, the queue only went on after a damaged number.
        """
        if row[FIRST_AT] <= before[LAST_AT]:
            return False  # bytes that were read twice: two files of the log claim one place
        place, preceding = (self._place(queue_id, int(row[FIRST]) - step) for step in (0, 1))
        if preceding is not None and preceding <= before[LAST_AT]:
            return False
        if place in (row[FIRST_AT], before[FIRST_AT]):
            return bool(place == row[FIRST_AT])
        if self.held_at(queue_id, before) != NEVER:
            return False
        missing = row[LAST] - row[FIRST] + 1 - row[MESSAGES]
        return bool(row[FIRST] == 0 and (missing == 0 or missing != before[LAST] + 1))

    def _place(self, queue_id: int, queue_offset: int) -> int | None:
        """Where the message of that number starts, as the queue says; None where it has no unit for it."""
        queue = self.queues.get((self.topic, queue_id))
        pointer = None if queue is None else queue.pointer(queue_offset)
        return None if pointer is None or pointer.msg_size == INT_MAX else pointer.physical_offset  # no pre-blank

    def held_at(self, queue_id: int, row: Longs) -> int:
        """The place of the first message of a stretch of which the queue is seen to have the unit; NEVER: of none.

        A unit of the first or the last message leads to where that starts; one in between, to any place between, counts
        where neither of them contradicts it: the unit of the first, leading elsewhere, is of another queue.
        """
        first, middle, last = (
            self._place(queue_id, int(number)) for number in (row[FIRST], (row[FIRST] + row[LAST]) // 2, row[LAST])
        )
        if first is not None and first == row[FIRST_AT]:
            return first
        if last != row[LAST_AT] and first is not None:
            return NEVER
        places = (place for place in (middle, last) if place is not None and row[FIRST_AT] <= place <= row[LAST_AT])
        return min(places, default=NEVER)
