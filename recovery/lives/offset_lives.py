"""Whose offsets are of a former life of their topic: numbers that count messages which no queue has any more.

Before 5.x a deletion leaves the offsets of groups in place, and a client that is online may commit an old one later. A
topic created again counts from 0, so that such an offset skips its messages: beyond the queue's end the next pull goes
on at the end (before 4.9.4 at 0, where the queue starts there), within the queue it goes on at the offset itself.
Source: DefaultMessageStore#getMessage (OFFSET_OVERFLOW_BADLY), ConsumerOffsetManager#cleanOffset @4.9.7, 5.3.3.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from parsers.store.store_file import QueueKey
from recovery.lives.life import TopicLives

if TYPE_CHECKING:
    from parsers.queues.queue import Queue

GroupOffsets = Mapping[tuple[str, str], Mapping[int, int]]
"""(group, topic) -> queue_id -> next message number to consume."""
QueueEnds = Mapping[QueueKey, tuple[int, int]]
"""Queue -> first message number that still exists, next one to come."""


class OffsetLife(Enum):
    """Which life an offset that needs a look is of."""

    DELETED = "the topic was deleted; created again, it would count from 0"
    FORMER = "it is beyond the queue's end, and a former life of the topic had messages up to there"
    UNKNOWN = "former lives of the topic had messages up to there, too; the store does not tell which life it is of"


@dataclass(frozen=True, slots=True)
class DoubtfulOffset:
    """An offset that is, or may be, of a former life.

    Attributes:
        first, end: the living queue's first message and its next one; both 0 where there is no such queue.
        skipped: how many living messages the group never gets if the offset is of a former life.
    """

    group: str
    topic: str
    queue_id: int
    offset: int
    first: int
    end: int
    skipped: int
    life: OffsetLife


def may_be_doubtful(
    topic: str, queue_id: int, offset: int, ends: QueueEnds, queues: Mapping[QueueKey, Queue], log_start: int
) -> bool:
    """Whether an offset may be of a former life, as far as the queues alone tell.

    Beyond the queue's end it may; within it, where the queue still has its first message and the log reaches further
    back than that.
    """
    first, end = ends.get((topic, queue_id), (0, 0))
    if offset <= 0 or offset > end or first > 0:
        return offset > end
    queue = queues.get((topic, queue_id))
    begin = None if queue is None else queue.pointer(0)
    return begin is not None and begin.physical_offset > log_start


def doubtful_offsets(lives: TopicLives, offsets: GroupOffsets, ends: QueueEnds) -> Iterator[DoubtfulOffset]:
    """The offsets that are, or may be, of a former life, by group, topic and queue.

    A group that is proven to consume the present life is believed on every queue within its end. That is one with an
    offset that no former life can have given, or one that stands at the end of each queue where the former lives ended
    elsewhere.
    """
    for (group, topic), stored in sorted(offsets.items()):
        if lives.is_deleted(topic):
            former = {queue_id: offset for queue_id, offset in stored.items() if offset > 0}
            for queue_id, offset in sorted(former.items()):
                yield DoubtfulOffset(group, topic, queue_id, offset, 0, 0, 0, OffsetLife.DELETED)
            continue
        before = _former_ends(lives, topic)
        if before:
            known = {key: ends[key] for queue_id in stored if (key := (topic, queue_id)) in ends}
            yield from _of_group(group, topic, stored, before, {**known, **_living_ends(lives, topic, ends)})


def _former_ends(lives: TopicLives, topic: str) -> dict[int, int]:
    """queue_id -> the offset after the last message that any former life of a topic had there."""
    found: dict[int, int] = {}
    for life in lives.topics.get(topic, ())[:-1]:
        for queue in life.queues:
            found[queue.queue_id] = max(found.get(queue.queue_id, 0), queue.last_queue_offset + 1)
    return found


def _living_ends(lives: TopicLives, topic: str, ends: QueueEnds) -> dict[QueueKey, tuple[int, int]]:
    """The ends of a topic's queues as the log has them: those of a queue that lost its files, or its last units."""
    found: dict[QueueKey, tuple[int, int]] = {}
    for queue in lives.topics[topic][-1].queues:
        key = topic, queue.queue_id
        first, end = ends.get(key, (0, 0))
        if key not in lives.restarted and queue.last_queue_offset >= end:
            found[key] = first, queue.last_queue_offset + 1
    return found


def _of_group(
    group: str, topic: str, stored: Mapping[int, int], before: Mapping[int, int], ends: QueueEnds
) -> Iterator[DoubtfulOffset]:
    within = {q: offset for q, offset in stored.items() if 0 < offset <= ends.get((topic, q), (0, 0))[1]}
    proven = any(offset > before.get(q, 0) for q, offset in within.items())
    at_ends = all(offset == ends[topic, q][1] != before.get(q) for q, offset in within.items())
    is_present = bool(within) and (proven or at_ends)
    for queue_id, offset in sorted(stored.items()):
        first, end = ends.get((topic, queue_id), (0, 0))
        if offset > before.get(queue_id, 0):
            continue
        if offset > end:
            yield DoubtfulOffset(group, topic, queue_id, offset, first, end, end - first, OffsetLife.FORMER)
        elif offset > first and not is_present:
            yield DoubtfulOffset(group, topic, queue_id, offset, first, end, offset - first, OffsetLife.UNKNOWN)
