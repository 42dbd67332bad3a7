"""The tags code of a ConsumeQueue unit: a hash of TAGS, or the delivery time of a delayed message.

Source: MessageExtBrokerInner#tagsString2tagsCode, CommitLog#checkMessageAndReturnSize,
ScheduleMessageService#parseDelayLevel, #computeDeliverTimestamp @5.3.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from parsers.values.java import string_hash_code
from parsers.values.topics import SCHEDULE_TOPIC


def tags_hash(tags: str | None) -> int:
    """Java's hash of the one tag, signed; 0 without tags."""
    return string_hash_code(tags) if tags else 0


@dataclass(frozen=True, slots=True)
class DelayLevels:
    """The broker's `messageDelayLevel`: milliseconds of level 1, 2, …"""

    millis: tuple[int, ...]

    UNITS: ClassVar[dict[str, int]] = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
    DEFAULT: ClassVar[str] = "1s 5s 10s 30s 1m 2m 3m 4m 5m 6m 7m 8m 9m 10m 20m 30m 1h 2h"
    UNKNOWN_LEVEL_MS: ClassVar[int] = 1_000

    @classmethod
    def parse(cls, text: str = DEFAULT) -> DelayLevels:
        """Raises ValueError for a unit that is none of s, m, h, d, as the broker refuses to start with it."""
        try:
            return cls(tuple(int(part[:-1]) * cls.UNITS[part[-1]] for part in text.split(" ")))
        except (KeyError, IndexError, ValueError) as error:
            raise ValueError(f"messageDelayLevel {text!r}: levels are numbers with s, m, h or d") from error

    def deliver_at_ms(self, level: int, store_timestamp_ms: int) -> int:
        """`computeDeliverTimestamp`; a level beyond the table waits one second."""
        known = 1 <= level <= len(self.millis)
        return store_timestamp_ms + (self.millis[level - 1] if known else self.UNKNOWN_LEVEL_MS)


def tags_code(topic: str, tags: str | None, delay: str | None, store_timestamp_ms: int, levels: DelayLevels) -> int:
    """The tags code of a message's unit.

    Args:
        delay: the property DELAY, which counts on `SCHEDULE_TOPIC_XXXX` only.

    Raises:
        ValueError: DELAY is no number there (the broker takes such a record for invalid).
    """
    if topic == SCHEDULE_TOPIC and delay is not None:
        level = min(int(delay), len(levels.millis))
        if level > 0:
            return levels.deliver_at_ms(level, store_timestamp_ms)
    return tags_hash(tags)
