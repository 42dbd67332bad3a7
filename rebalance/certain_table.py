"""A process's queues of one topic at an instant, where they are certain."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterator, Sequence

from rebalance.shares import Queues
from rebalance.table import Tenure

_LONG_AGO, _NEVER = -(1 << 62), 1 << 62


class CertainTable:
    """Answers for any instant; between two edges of tenures the answer is the same, and the same object.

    Args:
        tenures: those of one process and topic, in queue order.
    """

    def __init__(self, tenures: Sequence[Tenure]) -> None:
        self._edges = [_LONG_AGO]
        self._answers: list[Queues | None] = [()]
        held: list[int] = []
        unsure = 0
        for at_ms, number, surely, perhaps in sorted(_changes(tenures)):
            if surely > 0:
                insort(held, number)
            elif surely < 0:
                held.remove(number)
            unsure += perhaps
            answer = None if unsure else tuple(dict.fromkeys(tenures[mine].queue for mine in held))
            if at_ms == self._edges[-1]:
                self._answers[-1] = answer
            else:
                self._edges.append(at_ms)
                self._answers.append(answer)

    def at(self, at_ms: int) -> Queues | None:
        """The queues held at an instant (epoch ms), in Java's order; None where one of them may be held or not."""
        return self._answers[bisect_right(self._edges, at_ms) - 1]


def _changes(tenures: Sequence[Tenure]) -> Iterator[tuple[int, int, int, int]]:
    """(instant, number of the tenure, change in whether it is certain, change in whether it is merely possible)."""
    for number, tenure in enumerate(tenures):
        begin, end = tenure.begin_earliest or 0, _NEVER if tenure.end_latest is None else tenure.end_latest
        surely, until = tenure.begin_latest, tenure.end_earliest
        perhaps = [(begin, end)]
        if surely < until:
            yield surely, number, 1, 0
            yield until, number, -1, 0
            perhaps = [(begin, min(end, surely)), (max(begin, until), end)]
        for since, before in perhaps:
            if since < before:
                yield since, number, 0, 1
                yield before, number, 0, -1
