"""What a start brings back: messages of deleted topics and former lives that dispatch gives a queue again.

Dispatch knows no deletions: it makes units for every record after the point where it starts, so that a start after a
crash may give a deleted topic its queues back (apache/rocketmq issue 1852), or a queue that its topic has no more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from recovery.broker.store_folder import QueueKey
from recovery.forecast.losses import NONE, queued_offsets, units_of
from recovery.lives.life import NEVER, Ground, TopicLives
from recovery.scan.kernel import Longs
from recovery.start.restart import Restart

MAY_BE_DELETED = frozenset(
    {
        Ground.CONFIG_OLDER,
        Ground.NOTHING_LEFT,
        Ground.CREATED_OR_LOST,
        Ground.NAMED_THOUGH_DELETED,
        Ground.DELETION_NOT_SAVED,
    }
)
CERTAIN = "a deletion took them out of their queue, and dispatch makes units for them again"


@dataclass(frozen=True, slots=True)
class Return:
    """Messages of one queue that the start brings back. `certain`: they are known to be of a life that is over."""

    topic: str
    queue_id: int
    messages: int
    first_physical_offset: int
    certain: bool
    reason: str


def returns(played: Restart, lives: TopicLives) -> Iterator[Return]:
    """The messages that no queue has before the start, and one has after it, though their life is over or may be."""
    if not played.started or played.not_played or not len(played.memory.dispatched):
        return
    open_questions = {life.topic: life.ground for life in lives.undecided if life.ground in MAY_BE_DELETED}
    for key in sorted(played.memory.every_queue):
        is_open = key[0] in open_questions
        start = NEVER if is_open else lives.former_before(key)
        after = queued_offsets(played, key)
        back = np.setdiff1d(after[after < start], _before(played, key)) if start else after[:0]
        if len(back):
            why = open_questions[key[0]].value if is_open else CERTAIN
            yield Return(*key, len(back), int(back[0]), not is_open, why)


def brought_back(played: Restart, lives: Callable[[], TopicLives]) -> int:
    """How many messages `returns` names; `lives` is asked only where dispatch makes units."""
    if not played.started or played.not_played or not len(played.memory.dispatched):
        return 0
    return sum(found.messages for found in returns(played, lives()))


def _before(played: Restart, key: QueueKey) -> Longs:
    """Physical offsets of the units of a queue as they were."""
    folder = played.memory.evidence.database
    if folder is not None:
        return np.concatenate([NONE, *(units["physical_offset"].astype(np.int64) for units in folder.units(key))])
    evidence = played.memory.evidence
    entries = (*evidence.queues.get(key, ()), *evidence.batch_queues.get(key, ()))
    return np.concatenate([NONE, *(units_of(entry).places for entry in entries)])
