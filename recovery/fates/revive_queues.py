"""The queues of a revive topic: how far the revive service is in each, and what waits for it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from parsers.kernels.arrays import Longs
from parsers.values.java import LONG_MAX
from parsers.values.topics import is_revive
from recovery.fates.held_kernel import NONE
from recovery.fates.pops import IN_FLIGHT, StorePops
from recovery.fates.revive_log import WAITS_FOR
from recovery.knowledge.inference import StoreKnowledge
from recovery.rules.versions import BrokerVersion
from recovery.scan.queue_rows import queue_rows


class ReviveQueue(NamedTuple):
    """A queue of a revive topic. `revive_offset`: None: no offset is known; `end`: the next number in it, None where
    the log has nothing of it. `checkpoints` and `messages`: not done with and not acknowledged; `waiting`: checkpoints
    of these that are still in the timer's topic; `unreadable`: bodies at which the revive service will stop."""

    topic: str
    queue_id: int
    revive_offset: int | None
    end: int | None
    checkpoints: int
    messages: int
    waiting: int
    oldest_due_ms: int | None
    unreadable: int


SKIPS_WITHOUT_TIMERS = BrokerVersion(5, 1, 1)


def skips_revival(known: StoreKnowledge) -> bool:
    """Whether the broker revives nothing by its settings. PopReviveService#run @5.1.1 - 5.5.0."""
    return known.version >= SKIPS_WITHOUT_TIMERS and not known.settings.timer_wheel_enable


def revive_queues(answer: StorePops) -> list[ReviveQueue]:
    """Every queue of a revive topic that the log or an offset names, and what waits to be revived in it."""
    log, found, columns = answer.log, answer.found, answer.log.held.columns
    queues, of_record = _queues(answer)
    names, count = sorted(queues), len(queues)
    offsets = {queues[name]: offset for name, offset in (answer.revive_offsets or {}).items()}
    done = np.array([offsets.get(number, NONE) for number in range(count)], np.int64)

    def counted(records: Longs) -> list[int]:
        numbers: list[int] = np.bincount(of_record[records], minlength=count).tolist()
        return numbers

    stored = np.flatnonzero((of_record != NONE) & ~log.is_waiting)
    ends = np.full(count, NONE, np.int64)
    np.maximum.at(ends, of_record[stored], columns.queue_offset[stored])
    open_rows = np.flatnonzero(found.state == IN_FLIGHT)
    entry = found.entry[open_rows]
    records, due_ms = log.entries.record[entry], (log.entries.pop_time_ms + log.entries.invisible_ms)[entry]
    oldest = np.full(count, LONG_MAX, np.int64)
    np.minimum.at(oldest, of_record[records], due_ms)
    is_past = ~log.is_waiting[log.unreadable]
    is_past &= columns.queue_offset[log.unreadable] <= done[of_record[log.unreadable]] if count else True
    checkpoints, messages = counted(np.unique(records)), counted(records)
    waiting = counted(np.unique(records[found.delivered[open_rows] == NONE]))
    unreadable = counted(log.unreadable[~is_past])
    return [
        ReviveQueue(
            *name,
            offsets.get(at),
            int(ends[at]) + 1 if ends[at] != NONE else None,
            checkpoints[at],
            messages[at],
            waiting[at],
            int(oldest[at]) if messages[at] else None,
            unreadable[at],
        )
        for name, at in ((name, queues[name]) for name in names)
    ]


def _queues(answer: StorePops) -> tuple[dict[tuple[str, int], int], Longs]:
    """A number for each queue of a revive topic, and of each record held the queue that it is in, or waits for; NONE
    for one of another topic."""
    log, columns, topics = answer.log, answer.log.held.columns, answer.log.held.topics
    topic = np.where(log.is_waiting, columns.real_topic, columns.topic).astype(np.int64)
    queue_id = np.where(log.is_waiting, columns.own[WAITS_FOR], columns.queue_id).astype(np.int64)
    is_of_revive = np.array([*(is_revive(name) for name in topics), False])
    rows = np.flatnonzero(is_of_revive[topic])  # NONE, -1, is the last one
    queues: dict[tuple[str, int], int] = {}
    of_record = np.full(len(topic), NONE, np.int64)
    for (code, number), theirs in queue_rows(topic[rows], queue_id[rows]).items():
        of_record[rows[theirs]] = queues.setdefault((topics[code], number), len(queues))
    for named in answer.revive_offsets or ():
        queues.setdefault(named, len(queues))
    return queues, of_record
