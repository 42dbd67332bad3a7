"""persistAll runs: commits of one process to one broker that come together.

A periodic run names every queue whose offset the process knows; a round that removes queues commits just those.
Source: RemoteBrokerOffsetStore#persistAll, #persist; RebalancePushImpl#removeUnnecessaryMessageQueue.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import itemgetter
from typing import NamedTuple

from rebalance.model import MessageQueue

TOGETHER_MS = 1_000  # one-way commits of one run may be handled this far apart
_AT_MS = itemgetter(0)


Commit = tuple[int, MessageQueue, bool]
"""When (epoch ms), which queue, and whether the process was seen with it again later without a new take-over."""


class PersistRun(NamedTuple):
    """Commits close together. `periodic`: it named a queue that stayed, so it named all there were."""

    first_ms: int
    last_ms: int
    queues: frozenset[MessageQueue]
    periodic: bool


def persist_runs(commits: Iterable[Commit]) -> list[PersistRun]:
    """Runs of one process at one broker, in time order."""
    runs: list[PersistRun] = []
    run: list[Commit] = []
    for commit in sorted(commits, key=_AT_MS):
        if run and commit[0] - run[-1][0] > TOGETHER_MS:
            runs.append(_run(run))
            run = []
        run.append(commit)
    return [*runs, _run(run)] if run else runs


def _run(commits: list[Commit]) -> PersistRun:
    queues = frozenset([queue for _, queue, _ in commits])
    return PersistRun(commits[0][0], commits[-1][0], queues, any(stayed for _, _, stayed in commits))
