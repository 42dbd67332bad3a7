"""What a broker's log says of a topic: when it was deleted and when it was created.

A deletion ends the life whose messages were stored before it. A creation is logged only where topics.json did not name
the topic. A log that says nothing proves nothing: lines are lost, and logs are rotated away.
Source: TopicConfigManager#deleteTopicConfig, #updateTopicConfig @4.9.7, 5.3.3.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import zip_longest
from typing import Literal

DELETION_MS = 2_000
"""A deletion takes the queues one by one: for so long, a producer that goes on sending may meet some of them still."""


@dataclass(frozen=True, slots=True)
class TopicEvent:
    """A topic was created or deleted, at some instant of [from_ms, until_ms] (epoch ms of the broker's clock)."""

    topic: str
    kind: Literal["created", "deleted"]
    from_ms: int
    until_ms: int


class Contradiction(Enum):
    """How the log of a broker and the files of its store contradict each other about a life."""

    SERVED = "broker.log says that it was deleted after its last message, and its queues hold that message"
    WENT_ON = "broker.log says that it was deleted while its messages, by their numbers, went on"
    CONFIG_OLDER = (
        "broker.log says that it was deleted amid its messages, and topics.json, which a deletion changes, is older"
    )
    NOT_NAMED = "broker.log says that it was created again, and topics.json does not name it"


@dataclass(frozen=True, slots=True)
class Logged:
    """What the log says of one life; instants are the earliest possible ones, None where no line tells."""

    created_ms: int | None = None
    deleted_ms: int | None = None
    contradiction: Contradiction | None = None


NOTHING_LOGGED = Logged()


@dataclass(frozen=True, slots=True)
class Deletion:
    """One deletion; `created`: the creation after it, before any other deletion."""

    event: TopicEvent
    created: TopicEvent | None

    @property
    def over_ms(self) -> int:
        """The latest store time of a message of the life that it ended."""
        until, created = self.event.until_ms, self.created
        return until + DELETION_MS if created is None else max(until, min(until + DELETION_MS, created.from_ms - 1))

    def is_between(self, before_ms: int, behind_ms: int) -> bool:
        """Whether it parts messages stored by `before_ms` from those stored since `behind_ms`."""
        return before_ms <= self.over_ms and self.event.from_ms <= behind_ms


class TopicLog:
    """What the log says of one topic; `events`: those of the topic, in log order."""

    def __init__(self, events: Iterable[TopicEvent] = ()) -> None:
        self._events = sorted(events, key=lambda event: event.from_ms)
        self.deletions = tuple(self._deletions())

    def _deletions(self) -> Iterator[Deletion]:
        for event, behind in zip_longest(self._events, self._events[1:]):
            if event.kind == "deleted":
                yield Deletion(event, behind if behind is not None and behind.kind == "created" else None)

    def deletion_between(self, before_ms: int, behind_ms: int) -> Deletion | None:
        """The last deletion that parts messages stored by `before_ms` from those stored since `behind_ms`."""
        return next((d for d in reversed(self.deletions) if d.is_between(before_ms, behind_ms)), None)

    def created_before(self, time_ms: int) -> TopicEvent | None:
        """The creation of the topic as it was at an instant, None where the last line before it is none."""
        before = [event for event in self._events if event.from_ms <= time_ms]
        return before[-1] if before and before[-1].kind == "created" else None

    def created_behind(self, time_ms: int) -> TopicEvent | None:
        """The creation after an instant that no other line follows."""
        last = self._events[-1] if self._events else None
        return last if last is not None and last.kind == "created" and last.from_ms > time_ms else None


def by_topic(events: Iterable[TopicEvent]) -> dict[str, TopicLog]:
    """The log of each topic that it names."""
    found: dict[str, list[TopicEvent]] = {}
    for event in events:
        found.setdefault(event.topic, []).append(event)
    return {topic: TopicLog(of_topic) for topic, of_topic in found.items()}
