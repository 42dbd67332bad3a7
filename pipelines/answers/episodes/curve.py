"""The lag of a group on a topic at the instants at which its offsets were kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parsers.utc import EPOCH, MILLISECOND

Row = Mapping[str, Any]
Longs = NDArray[np.int64]
Floats = NDArray[np.float64]
TopicKey = tuple[str | None, str, str]
"""(broker, group, topic)."""


@dataclass(frozen=True, slots=True)
class TopicCurve:
    """One group on one topic of a broker.

    Shapes: `at_ms` (instants), ascending; `ends`, `offsets` (queues, instants): the next message number of the queue,
        and the group's; `queue_ids` (queues). Where an instant tells nothing of a queue, the one before it holds.
    """

    key: TopicKey
    queue_ids: tuple[int, ...]
    at_ms: Longs
    ends: Longs
    offsets: Longs

    @property
    def lag(self) -> Longs:
        """Messages behind, per queue and instant; an offset ahead of its queue is not behind."""
        behind: Longs = np.maximum(self.ends - self.offsets, 0)
        return behind


def curves_of(rows: Iterable[Row]) -> Iterator[TopicCurve]:
    """The curves in rows of `lag_history` (or `lag` at several instants); unknown figures are left out."""
    found: dict[TopicKey, dict[int, dict[int, tuple[int, int]]]] = {}
    for row in rows:
        if row["broker_offset"] is None or row["consumer_offset"] is None or row["status"] == "unknown":
            continue
        queues = found.setdefault((row["broker"], row["group"], row["topic"]), {})
        at_ms = (row["at"] - EPOCH) // MILLISECOND
        queues.setdefault(row["queue_id"], {})[at_ms] = row["broker_offset"], row["consumer_offset"]
    for key, of_topic in sorted(found.items(), key=lambda item: tuple(map(str, item[0]))):
        yield _curve(key, of_topic)


def _curve(key: TopicKey, queues: Mapping[int, Mapping[int, tuple[int, int]]]) -> TopicCurve:
    instants = sorted({at for samples in queues.values() for at in samples})
    place = {at: number for number, at in enumerate(instants)}
    shape = len(queues), len(instants)
    ends, offsets = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    for row, queue_id in enumerate(sorted(queues)):
        samples = queues[queue_id]
        known = np.array(sorted(place[at] for at in samples))
        before = np.maximum(np.searchsorted(known, np.arange(len(instants)), "right") - 1, 0)
        pairs = np.array([samples[instants[number]] for number in known])[before]
        ends[row], offsets[row] = pairs[:, 0], pairs[:, 1]
    return TopicCurve(key, tuple(sorted(queues)), np.array(instants, np.int64), ends, offsets)
