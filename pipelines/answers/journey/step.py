"""What the story of a message is made of: the records that carry it, the life of its topic, and its steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from parsers.layouts.columns import schema_from
from parsers.store.store_file import QueueKey
from recovery.lives.life import TopicLives
from recovery.lives.offset_lives import OffsetLife

StepName = Literal[
    "sent",
    "stored",
    "queued",
    "indexed",
    "owned",
    "pulled",
    "delivered",
    "decided",
    "recalled",
    "committed",
    "skipped",
    "due",
    "popped",
    "acked",
    "in_flight",
    "revived",
    "retried",
    "given_up",
    "consumed",
]

STEP_SCHEMA = schema_from("at time_ms, step text, group text, client_id text, what text, certain flag, evidence text")
"""Rows of `who`."""


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """One record of the log that carries the message, original or copy.

    `group`: whose retry or dead letter topic it is in. `has_retry_topic`: it has the property RETRY_TOPIC.
    """

    topic: str
    queue_id: int
    queue_offset: int
    physical_offset: int
    stored_ms: int | None
    born_host: str | None
    message_id: str
    unique_id: str | None
    reconsume_times: int
    transaction_type: str
    born_ms: int | None = None
    has_retry_topic: bool = False
    group: str | None = None

    @property
    def place(self) -> str:
        return (
            f"{self.topic}/{self.queue_id} at queue offset {self.queue_offset}, physical offset {self.physical_offset}"
        )


@dataclass(frozen=True, slots=True)
class Step:
    """One row of the story. `certain` is False where only a window or a possibility is known."""

    at_ms: int | None
    step: StepName
    group: str | None
    client_id: str | None
    what: str
    certain: bool
    evidence: str


@dataclass(frozen=True, slots=True)
class MessageLife:
    """One message's life among those of its topic.

    Attributes:
        life: 1 is the first one that the log knows of.
        is_over: a deletion ended it.
        followed_ms: when the next life began, by its first message or its creation; None where there is none.
        living_end: the next message number of the queue as it lives, 0 without one.
    """

    life: int
    is_over: bool
    followed_ms: int | None
    living_end: int

    def counts(self, known_ms: int, doubt: OffsetLife | None) -> bool | None:
        """Whether an offset that is known since `known_ms` counts messages of this life; None: that is open.

        `doubt`: what speaks against its being of the topic's present life.
        """
        if not self.is_over:
            return {OffsetLife.FORMER: False, OffsetLife.UNKNOWN: None}.get(doubt, True) if doubt else True
        if self.followed_ms is None or known_ms < self.followed_ms:
            return True
        return None if doubt is OffsetLife.UNKNOWN else doubt is not None

    def doubt_of(self, queue_offset: int) -> OffsetLife | None:
        """What speaks against an offset of which nothing but the number is known."""
        return OffsetLife.FORMER if queue_offset > self.living_end else None


def message_life(lives: TopicLives, key: QueueKey, physical_offset: int, living_end: int) -> MessageLife | None:
    """The life of the message at a place of the log; None of a topic that the log does not number."""
    own, of_topic = lives.life_at(key, physical_offset), lives.topics.get(key[0], ())
    if own is None:
        return None
    followed_ms = of_topic[own.life].begins_ms if own.life < len(of_topic) else None
    return MessageLife(own.life, own.state == "deleted", followed_ms, living_end)
