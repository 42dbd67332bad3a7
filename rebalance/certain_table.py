"""A process's queues of one topic at an instant, where they are certain."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from rebalance.model import MessageQueue
from rebalance.shares import Queues
from rebalance.table import Tenure


class CertainTable:
    """Answers for any instant; between two edges of tenures the answer is the same, and the same object.

    Args:
        tenures: those of one process and topic, in queue order.
    """

    def __init__(self, tenures: Sequence[Tenure]) -> None:
        self._tenures = tenures
        edges = {
            edge for t in tenures for edge in (t.begin_earliest or 0, t.begin_latest, t.end_earliest, t.end_latest)
        }
        self._edges = sorted(edge for edge in edges if edge is not None)
        self._answers: dict[int, Queues | None] = {}

    def at(self, at_ms: int) -> Queues | None:
        """The queues held at an instant (epoch ms), in Java's order; None where one of them may be held or not."""
        span = bisect_right(self._edges, at_ms)
        if span not in self._answers:
            self._answers[span] = self._held(at_ms)
        return self._answers[span]

    def _held(self, at_ms: int) -> Queues | None:
        held: dict[MessageQueue, None] = {}
        for tenure in self._tenures:
            if tenure.begin_latest <= at_ms < tenure.end_earliest:
                held[tenure.queue] = None
            elif (tenure.begin_earliest or 0) <= at_ms and (tenure.end_latest is None or at_ms < tenure.end_latest):
                return None
        return tuple(held)
