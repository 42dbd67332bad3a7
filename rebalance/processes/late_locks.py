"""Ordered consumers that had a queue's lock and did not know it: their pulls waited for the next renewal of all locks.

A client before 4.9.5 takes the lock for a queue that it adds, and does not mark the queue as locked: it pulls nothing
until it asks for all of its locks again, every 20 s. Later ones mark the queue at once.
Source: RebalanceImpl#updateProcessQueueTableInRebalance @4.9.4, 4.9.5 and 5.0.0, #lockAll;
DefaultMQPushConsumerImpl#pullMessage.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rebalance.facts import Evidence, LockAnswered, PullNotLocked
from rebalance.model.message_queue import MessageQueue

_Key = tuple[str, int, MessageQueue]


@dataclass(slots=True)
class LateLock:
    """One wait: the broker granted the lock at `granted_ms`, the client marked the queue at `marked_ms` (epoch ms).

    `marked_ms` None: not while the record lasts, and then `waited_ms` is the last pull that waited. `pulls` counts
    lines that say so.
    """

    queue: MessageQueue
    client_id: str | None
    granted_ms: int
    evidence: Evidence
    pulls: int = 0
    waited_ms: int = 0
    marked_ms: int | None = None


class LateLocks:
    """Follows each queue of each run of a client's log; facts come in time order."""

    def __init__(self) -> None:
        self._open: dict[_Key, LateLock] = {}
        self._over: list[LateLock] = []

    def answered(self, fact: LockAnswered) -> None:
        key = (fact.source, fact.process, fact.queue)
        before = self._open.pop(key, None)
        if before is not None and before.pulls:
            before.marked_ms = fact.at_ms if fact.granted and fact.renewal else None
            self._over.append(before)
        if fact.granted and not fact.renewal:
            self._open[key] = LateLock(fact.queue, fact.client_id, fact.at_ms, fact.evidence)

    def waited(self, fact: PullNotLocked) -> None:
        wait = self._open.get((fact.source, fact.process, fact.queue))
        if wait is not None:
            wait.pulls += 1
            wait.waited_ms = fact.at_ms

    def all(self) -> Iterator[LateLock]:
        """Every wait in which a pull waited."""
        yield from self._over
        yield from (wait for wait in self._open.values() if wait.pulls)
