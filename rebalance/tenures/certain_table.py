"""A process's queues of one topic at an instant, where they are certain."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Sequence

from rebalance.model.message_queue import Queues
from rebalance.model.span import EVER
from rebalance.tenures.queue_table import Tenure


class CertainTable:
    """Answers for one instant after the other, quickest in the order of time.

    Args:
        tenures: those of one process and topic.
    """

    def __init__(self, tenures: Iterable[Tenure]) -> None:
        self._tenures = sorted(tenures, key=lambda tenure: tenure.queue.order)
        self._begin_anew()

    def _begin_anew(self) -> None:
        self._coming = sorted(_changes(self._tenures), reverse=True)
        self._asked_ms = -EVER
        self._held: list[int] = []
        self._unsure = 0
        self._answer: Queues | None = ()

    def at(self, at_ms: int) -> Queues | None:
        """The queues held at an instant (epoch ms), in Java's order; None where one of them may be held or not."""
        if at_ms < self._asked_ms:
            self._begin_anew()
        self._asked_ms = at_ms
        coming, held = self._coming, self._held
        if not coming or coming[-1][0] > at_ms:
            return self._answer
        while coming and coming[-1][0] <= at_ms:
            _, number, surely, perhaps = coming.pop()
            if surely > 0:
                insort(held, number)
            elif surely < 0:
                held.remove(number)
            self._unsure += perhaps
        self._answer = None if self._unsure else tuple(dict.fromkeys([self._tenures[mine].queue for mine in held]))
        return self._answer


def _changes(tenures: Sequence[Tenure]) -> list[tuple[int, int, int, int]]:
    """(instant, number of the tenure, change in whether it is certain, change in whether it is merely possible)."""
    changes: list[tuple[int, int, int, int]] = []
    for number, tenure in enumerate(tenures):
        begin, end = tenure.begin_earliest or 0, EVER if tenure.end_latest is None else tenure.end_latest
        surely, until = tenure.begin_latest, tenure.end_earliest
        perhaps = [(begin, end)]
        if surely < until:
            changes += ((surely, number, 1, 0), (until, number, -1, 0))
            perhaps = [(begin, min(end, surely)), (max(begin, until), end)]
        for since, before in perhaps:
            if since < before:
                changes += ((since, number, 0, 1), (before, number, 0, -1))
    return changes
