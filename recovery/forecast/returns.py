"""What a start brings back: messages of deleted topics and former lives, and timers that it takes in once more.

Dispatch knows no deletions: it makes units for every record after the point where it starts, so that a start after a
crash may give a deleted topic its queues back (apache/rocketmq issue 1852), or a queue that its topic has no more.
Timers are taken in from where timercheck is, if the timer log is ahead of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from parsers.kernels.arrays import Longs
from parsers.timer.check import TIMER_CHECK
from parsers.values.topics import TIMER_TOPIC
from recovery.broker.store_folder import Evidence, QueueKey
from recovery.config.start import TIMERCHECK, StoreFailure
from recovery.forecast.losses import NONE, queued_offsets, units_of
from recovery.forecast.repair import Repair
from recovery.lives.life import NEVER, Ground, TopicLives
from recovery.start.restart import Restart
from recovery.start.timer_start import TimersStart

MAY_BE_DELETED = frozenset(
    {
        Ground.CONFIG_OLDER,
        Ground.NOTHING_LEFT,
        Ground.CREATED_OR_LOST,
        Ground.NAMED_THOUGH_DELETED,
        Ground.DELETION_NOT_SAVED,
    }
)
PATH = f"config/{TIMERCHECK}"
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


@dataclass(frozen=True, slots=True)
class TimersAgain:
    """Timers that come again.

    Attributes:
        from_queue_offset: the first timer message of rmq_sys_wheel_timer/0 that is taken in.
        messages: how many from there on the timer log has already; None where the timer log cannot tell.
        whole_wheel: the wheel's slots are read from a week before the start on (timerPrecisionMs=1000), whatever was
            delivered of them.
    """

    from_queue_offset: int
    messages: int | None
    whole_wheel: bool
    reason: str


def timers_again(played: Restart) -> TimersAgain | None:
    """What the start takes in or reads once more; None where it goes on behind all that was taken in.

    Of a timer log without a unit nobody knows what was taken in: that counts where timercheck lacks its numbers.
    """
    timers = played.timers
    if timers is None:
        return None
    lacks, reads_week = _lacking(played, timers), timers.check["last_read_time_ms"] <= 0
    if timers.taken_in_to is None:
        messages, comes_again = None, lacks is not None and timers.next_offset < timers.queue_end
    else:
        messages = max(0, timers.taken_in_to - timers.next_offset)
        comes_again = messages > 0
    if not comes_again and not reads_week:
        return None
    return TimersAgain(timers.next_offset, messages if comes_again else 0, reads_week, lacks or _why(timers))


def with_copy(played: Restart) -> Repair | None:
    """What can be done about a timercheck that lacks its numbers; None of another one."""
    lacks = None if played.timers is None or timers_again(played) is None else _lacking(played, played.timers)
    return None if lacks is None else _put_back(lacks, "copy config/")


def without_folder(played: Restart) -> Iterator[Repair]:
    """What lets a broker start that a folder in the place of timercheck stops."""
    if played.config is not None and played.config.store_fails is StoreFailure.CHECK:
        yield _put_back(f"{PATH} is a folder", "move the folder out of the store", played.memory.evidence)


def _put_back(why: str, first: str, store: Evidence | None = None) -> Repair:
    """`store`: where the start is another without what is in the file's place, the store with it."""
    without = {name: entry for name, entry in ((store and store.config) or {}).items() if name != TIMERCHECK}
    return Repair(
        f"{first} first; then put the newest copy that there is of {PATH} of this store in place",
        f"{why}; a start without the file takes in all timer messages of the log again",
        "timers that were delivered after that copy was made are delivered again; without a copy, all that the log "
        "and the timer wheel still have",
        files=(PATH,),
        store=None if store is None else replace(store, config=without),
    )


def _lacking(played: Restart, timers: TimersStart) -> str | None:
    """Why timercheck does not say how far timers are; None where it does."""
    entry = (played.memory.evidence.config or {}).get(TIMERCHECK)
    if entry is None:
        return f"there is no {PATH}"
    if entry.size < TIMER_CHECK.size:
        return f"{PATH} has {entry.size} bytes of {TIMER_CHECK.size}, and counts as zeros behind them"
    return None if any(timers.check.values()) else f"{PATH} has zeros only"


def _why(timers: TimersStart) -> str:
    if 0 < timers.next_offset == timers.queue_end:
        return f"{TIMER_TOPIC}/0 ends at {timers.queue_end} as it is loaded, before what the timer log has"
    master, read_ms = timers.check["master_queue_offset"], timers.check["last_read_time_ms"]
    return f"{PATH} has timer messages taken in up to {master} only, and delivered up to {read_ms} ms"
