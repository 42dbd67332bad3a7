"""persistAll runs: commits of one process to one broker that come together.

A periodic run names every queue whose offset the process knows; a round that removes queues commits just those.
Source: RemoteBrokerOffsetStore#persistAll, #persist; RebalancePushImpl#removeUnnecessaryMessageQueue.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from operator import itemgetter

from rebalance.model.frozen import frozen
from rebalance.model.message_queue import MessageQueue
from rebalance.model.timing import TOGETHER_MS

_AT_MS, _STAYED = itemgetter(0), itemgetter(2)


Commit = tuple[int, MessageQueue, bool]
"""When (epoch ms), which queue, and whether the process was seen with it again later without a new take-over."""


@frozen()
class PersistRun:
    """Commits close together. `periodic`: it named a queue that stayed, so it named all there were."""

    first_ms: int
    last_ms: int
    queues: frozenset[MessageQueue]
    periodic: bool


class PersistRuns:
    """The runs of one process at one broker, in time order."""

    def __init__(self, commits: Iterable[Commit]) -> None:
        self._runs = _runs(commits)
        self._begins = [run.first_ms for run in self._runs]

    def at(self, at_ms: int) -> PersistRun | None:
        """The last run that had begun by then."""
        begun = bisect_right(self._begins, at_ms)
        return self._runs[begun - 1] if begun else None

    def first_without(self, queue: MessageQueue, after_ms: int) -> int | None:
        """When the first periodic run that began after an instant and did not name a queue began."""
        for at in range(bisect_right(self._begins, after_ms), len(self._runs)):
            run = self._runs[at]
            if run.periodic and queue not in run.queues:
                return run.first_ms
        return None


def _runs(commits: Iterable[Commit]) -> list[PersistRun]:
    in_order = sorted(commits, key=_AT_MS)
    runs: list[PersistRun] = []
    first, last_ms = 0, 0
    for at, (at_ms, _, _) in enumerate(in_order):
        if at_ms > last_ms + TOGETHER_MS and at:
            runs.append(_run(in_order[first:at]))
            first = at
        last_ms = at_ms
    return [*runs, _run(in_order[first:])] if in_order else runs


def _run(commits: list[Commit]) -> PersistRun:
    queues = frozenset([queue for _, queue, _ in commits])
    return PersistRun(commits[0][0], commits[-1][0], queues, any(map(_STAYED, commits)))
