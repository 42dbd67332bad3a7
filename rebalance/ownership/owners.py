"""Tenures of all processes -> who owned a queue at an instant, and the rows of `ownership_intervals`."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence

from rebalance.model.frozen import frozen
from rebalance.model.message_queue import MessageQueue
from rebalance.model.span import EVER
from rebalance.ownership.doubts import Doubt
from rebalance.tenures.queue_table import Tenure


@frozen()
class QueueOwners:
    """Answer for one queue at one instant; `possible` contains `owners`. Client ids are sorted and distinct."""

    group: str
    topic: str
    broker: str
    queue_id: int
    owners: tuple[str, ...]
    certain: bool
    possible: tuple[str, ...]


class OwnershipIndex:
    """Tenures of one group by queue, for questions about instants.

    Args:
        known: the span (from, until) the record speaks for; outside it nothing is certain.
        gaps: spans in it of which nothing is on record.
        settle_ms: how long after its last proof a change may still have been under way inside the client.
    """

    def __init__(
        self,
        group: str,
        queues: Iterable[MessageQueue],
        tenures: Iterable[Tenure],
        doubts: Sequence[Doubt],
        *,
        known: tuple[int, int],
        gaps: Sequence[tuple[int, int]] = (),
        settle_ms: int,
    ) -> None:
        self.group = group
        self._doubts = doubts
        self.known = known
        self._gaps = gaps
        self._settle_ms = settle_ms
        self._by_queue: dict[MessageQueue, list[Tenure]] = {queue: [] for queue in queues}
        for tenure in tenures:
            self._by_queue[tenure.queue].append(tenure)
        self._begins: dict[MessageQueue, list[int]] = {}
        for queue, held in self._by_queue.items():
            held.sort(key=_begin)
            self._begins[queue] = [_begin(t) for t in held]
        self._queues = sorted(self._by_queue, key=lambda q: q.order)

    def at(self, at_ms: int) -> list[QueueOwners]:
        """Owners of every queue the record knows in this group, in queue order."""
        known = self.speaks_for(at_ms)
        return [self._owners(queue, at_ms, known=known) for queue in self._queues]

    def speaks_for(self, at_ms: int) -> bool:
        """Whether the record covers an instant."""
        return self.known[0] <= at_ms <= self.known[1] and not any(begin < at_ms < end for begin, end in self._gaps)

    def _owners(self, queue: MessageQueue, at_ms: int, *, known: bool) -> QueueOwners:
        owners: set[str] = set()
        possible: set[str] = set()
        for tenure in self._by_queue[queue][: bisect_right(self._begins[queue], at_ms)]:
            if tenure.end_latest is not None and at_ms >= tenure.end_latest + self._settle_ms:
                continue
            possible.add(tenure.life.client_id)
            if tenure.begin_latest + self._settle_ms <= at_ms < tenure.end_earliest:
                owners.add(tenure.life.client_id)
        possible.update(doubt.client_id for doubt in self._doubts if doubt.covers(queue, at_ms))
        certain = known and owners == possible
        return QueueOwners(
            self.group, queue.topic, queue.broker_name, queue.queue_id,
            tuple(sorted(owners)), certain, tuple(sorted(possible)),
        )  # fmt: skip


def _begin(tenure: Tenure) -> int:
    return -EVER if tenure.begin_earliest is None else tenure.begin_earliest
