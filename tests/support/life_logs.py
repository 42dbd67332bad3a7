"""Small logs whose topics were deleted and created again, the queues beside them, and what is made of their lives."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal

from parsers.commitlog.record.message import Message
from parsers.queues.queue import Pointer
from parsers.store.store import open_store
from parsers.store.store_file import QueueKey
from recovery.knowledge.topic_events import TopicEvent
from recovery.lives.life import TopicLife, TopicLives
from recovery.lives.numbering import Numbering, read_numbering
from recovery.lives.topic_lives import topic_lives
from recovery.lives.topics_known import TopicsKnown
from recovery.rules.dispatch import DispatchRules
from tests.support.build_store import FIRST_MS, SETTINGS, VERSION, StoreBuilder

RULES = DispatchRules.of(VERSION, SETTINGS, frozenset())
LATER, EARLIER = FIRST_MS + 1_000_000_000, FIRST_MS - 1
Puts = Sequence[tuple[str, int, int]]
"""(topic, queue id, queue offset), in log order."""
SECOND = 999
"""A line of broker.log tells the second."""


def log_of(root: Path, puts: Puts) -> list[Message]:
    builder = StoreBuilder(root)
    return [builder.put(topic, queue_id, queue_offset=offset) for topic, queue_id, offset in puts]


def run(topic: str, queue_id: int, first: int, end: int) -> Puts:
    return [(topic, queue_id, offset) for offset in range(first, end)]


def in_turn(topic: str, queues: int, each: int) -> Puts:
    return [(topic, queue_id, offset) for offset in range(each) for queue_id in range(queues)]


def served(records: Sequence[Message], *places: int) -> dict[QueueKey, Any]:
    """Queues that hold units for these records, by their places in the log."""
    units: dict[QueueKey, dict[int, Pointer]] = {}
    for place in places:
        message = records[place]
        queue = units.setdefault((message.topic, message.queue_id), {})
        queue[message.queue_offset] = Pointer(message.physical_offset, message.total_size)
    return {key: SimpleNamespace(pointer=of_queue.get) for key, of_queue in units.items()}


def units(records: Sequence[Message], numbers: dict[int, int]) -> dict[QueueKey, Any]:
    """Queue 0 of T with a unit of each number, by the place in the log that it leads to."""
    pointers = {number: Pointer(records[at].physical_offset, 100) for number, at in numbers.items()}
    return {("T", 0): SimpleNamespace(pointer=pointers.get)}


def known(*topics: str, changed_ms: int = LATER) -> TopicsKnown:
    names = frozenset((*topics, "Others"))
    return TopicsKnown(names, names, changed_ms)


def numbering(root: Path) -> Numbering:
    return read_numbering(open_store(root).commitlog, RULES)


def decided(root: Path, config: TopicsKnown, queues: dict[QueueKey, Any]) -> TopicLives:
    return topic_lives(numbering(root), config, queues)


def event(kind: Literal["created", "deleted"], at_ms: int) -> TopicEvent:
    return TopicEvent("T", kind, at_ms, at_ms + SECOND)


def told(
    root: Path, config: TopicsKnown, queues: dict[QueueKey, Any], *events: TopicEvent
) -> tuple[TopicLives, tuple[TopicLife, ...]]:
    """The lives by files and log, and those of topic T."""
    lives = topic_lives(numbering(root), config, queues, events)
    return lives, lives.topics["T"]
