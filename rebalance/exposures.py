"""Messages that may have been consumed twice: at each change of owner, and while a queue had two."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rebalance.client import Witness
from rebalance.history import GroupHistory
from rebalance.model import MessageQueue
from rebalance.table import Tenure

OVERLAP = "overlap"
HAND_OVER = "hand_over"
_REACHED_AFTER_MS = 1_000


@dataclass(frozen=True, slots=True)
class Exposure:
    """One row: messages of a queue that two tenures may both have consumed.

    Queue offsets: from `from_queue_offset` (None: unknown, from the oldest) up to but without `to_queue_offset`
    (None: unknown; then those stored before `until_ms`). `clients`: who had it first, who took it.
    """

    group: str
    topic: str
    broker: str
    queue_id: int
    kind: str
    from_queue_offset: int | None
    to_queue_offset: int | None
    from_ms: int
    until_ms: int | None
    clients: tuple[str, str]
    cause: str


def exposures_of(history: GroupHistory, cause_of: dict[int, str]) -> list[Exposure]:
    """Exposures of one clustering group, by queue and time. A broadcasting group consumes everything many times by design.

    Args:
        cause_of: why each tenure began, by id of the tenure.
    """
    if history.broadcasting:
        return []
    return [
        exposure
        for queue, held in history.by_queue.items()
        for exposure in _of_queue(history.group, queue, held, _sightings(history, queue), cause_of)
    ]


def _sightings(history: GroupHistory, queue: MessageQueue) -> list[Witness]:
    """Every sighting of a queue with an offset, by any process, in time order."""
    seen = (w for p in history.processes for w in p.witnesses.get(queue, ()) if w.queue_offset is not None)
    return sorted(seen, key=lambda w: w.at_ms)


def _of_queue(
    group: str, queue: MessageQueue, held: list[Tenure], seen: list[Witness], cause_of: dict[int, str]
) -> Iterator[Exposure]:
    instants = [w.at_ms for w in seen]
    reached = [_reached(seen, instants, tenure.end_latest) for tenure in held]
    for index, later in enumerate(held):
        start = _start_offset(later)
        begun = later.begin_earliest
        for earlier, limit in zip(held[:index], reached, strict=False):
            until = earlier.end_latest
            overlapping = until is None or begun is None or begun < until
            if not overlapping and start is not None and limit is not None and limit <= start:
                continue  # handed over clean
            yield Exposure(
                group,
                queue.topic,
                queue.broker_name,
                queue.queue_id,
                OVERLAP if overlapping else HAND_OVER,
                start,
                limit,
                earlier.end_earliest if begun is None else begun,
                until,
                (earlier.process.client_id, later.process.client_id),
                cause_of.get(id(later), ""),
            )


def _start_offset(tenure: Tenure) -> int | None:
    """Where the new owner began: the stored offset it was told, else the first offset it was seen at."""
    if tenure.start_queue_offset is not None:
        return tenure.start_queue_offset
    mine = (w.queue_offset for w in tenure.process.witnesses.get(tenure.queue, ()) if w.at_ms >= tenure.begin_latest)
    return next((offset for offset in mine if offset is not None), None)


def _reached(seen: Sequence[Witness], instants: Sequence[int], until_ms: int | None) -> int | None:
    """How far the queue had been consumed by everybody a little after `until_ms`; no message before it is newer."""
    if until_ms is None:
        return None
    after = bisect_left(instants, until_ms + _REACHED_AFTER_MS)
    return max((w.queue_offset for w in seen[after : after + 2] if w.queue_offset is not None), default=None)
