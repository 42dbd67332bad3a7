"""The lag of a group on a topic at the instants at which its offsets were kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from parsers.config.groups import SYSTEM_GROUP_PREFIX
from parsers.values.utc import EPOCH, MILLISECOND

Row = Mapping[str, Any]
Longs = NDArray[np.int64]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
TopicKey = tuple[str | None, str, str]
"""(broker, group, topic)."""


@dataclass(frozen=True, slots=True)
class TopicCurve:
    """One group on one topic of a broker.

    Shapes: `at_ms` (instants), ascending; `ends`, `offsets` (queues, instants): the next message number of the queue,
        and the group's; `known` (queues, instants): where they are on record; `queue_ids` (queues).
    Between two instants that tell of a queue the former holds. Before the first and after the last of them `ends` and
    `offsets` are 0 and mean nothing.
    `reasons`: what the newest row of a queue says against its figures, or why they are unknown; by queue.
    """

    key: TopicKey
    queue_ids: tuple[int, ...]
    at_ms: Longs
    ends: Longs
    offsets: Longs
    known: Mask
    reasons: Mapping[int, str] = field(default_factory=dict)

    @property
    def held(self) -> Mask:
        """Where a queue is known, or was known before and is known again later."""
        seen: Mask = np.logical_or.accumulate(self.known, axis=1)
        return seen & np.logical_or.accumulate(self.known[:, ::-1], axis=1)[:, ::-1]

    @property
    def lag(self) -> Longs:
        """Messages behind, per queue and instant; an offset ahead of its queue is not behind, and 0 where unknown."""
        behind: Longs = np.maximum(self.ends - self.offsets, 0)
        return behind


def curves_of(rows: Iterable[Row]) -> Iterator[TopicCurve]:
    """The curves in rows of `lag_history` (or `lag` at several instants). Groups of the broker's own are left out."""
    found: dict[TopicKey, dict[int, Samples]] = {}
    for row in rows:
        if row["group"].startswith(SYSTEM_GROUP_PREFIX):
            continue
        queues = found.setdefault((row["broker"], row["group"], row["topic"]), {})
        at_ms = (row["at"] - EPOCH) // MILLISECOND
        is_known = row["broker_offset"] is not None and row["consumer_offset"] is not None
        pair = (row["broker_offset"], row["consumer_offset"]) if is_known and row["status"] != "unknown" else None
        queues.setdefault(row["queue_id"], Samples()).add(at_ms, pair, row["reason"])
    for key, of_topic in sorted(found.items(), key=lambda item: tuple(map(str, item[0]))):
        yield _curve(key, of_topic)


@dataclass(slots=True)
class Samples:
    """What is kept of one queue: by instant (epoch ms) its end and the group's offset, None where they are unknown."""

    pairs: dict[int, tuple[int, int] | None] = field(default_factory=dict)
    newest_ms: int = -1
    reason: str | None = None

    def add(self, at_ms: int, pair: tuple[int, int] | None, reason: str | None) -> None:
        self.pairs[at_ms] = pair
        if at_ms >= self.newest_ms:
            self.newest_ms, self.reason = at_ms, reason


def _curve(key: TopicKey, queues: Mapping[int, Samples]) -> TopicCurve:
    instants = sorted({at for samples in queues.values() for at in samples.pairs})
    shape = len(queues), len(instants)
    ends, offsets, known = np.zeros(shape, np.int64), np.zeros(shape, np.int64), np.zeros(shape, bool)
    for row, queue_id in enumerate(sorted(queues)):
        pairs = queues[queue_id].pairs
        places = [place for place, at in enumerate(instants) if pairs.get(at) is not None]
        if places:
            told = np.array([pairs[instants[place]] for place in places], np.int64)
            span = slice(places[0], places[-1] + 1)
            before = np.searchsorted(places, np.arange(span.start, span.stop), "right") - 1
            ends[row, span], offsets[row, span] = told[before, 0], told[before, 1]
            known[row, places] = True
    reasons = {queue_id: samples.reason for queue_id, samples in queues.items() if _matters(samples.reason)}
    return TopicCurve(key, tuple(sorted(queues)), np.array(instants, np.int64), ends, offsets, known, reasons)


def _matters(reason: str | None) -> TypeGuard[str]:
    """Whether a reason is about messages: that of seconds behind is not asked for here."""
    return bool(reason) and not str(reason).startswith("seconds unknown")
