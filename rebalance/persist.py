"""persistAll runs: commits of one process to one broker that come together.

A periodic run names every queue whose offset the process knows; a round that removes queues commits just those.
Source: RemoteBrokerOffsetStore#persistAll, #persist; RebalancePushImpl#removeUnnecessaryMessageQueue.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from rebalance.model import MessageQueue

TOGETHER_MS = 1_000  # one-way commits of one run may be handled this far apart


class SeenCommit(NamedTuple):
    """A commit, and whether the process was seen with the queue again later without a new take-over."""

    at_ms: int
    queue: MessageQueue
    stayed: bool


class PersistRun(NamedTuple):
    """Commits close together. `periodic`: it named a queue that stayed, so it named all there were."""

    first_ms: int
    last_ms: int
    queues: frozenset[MessageQueue]
    periodic: bool


def persist_runs(commits: Iterable[SeenCommit]) -> dict[str, list[PersistRun]]:
    """Runs of one process by broker name, in time order."""
    by_broker: dict[str, list[SeenCommit]] = {}
    for commit in sorted(commits, key=lambda c: c.at_ms):
        by_broker.setdefault(commit.queue.broker_name, []).append(commit)
    return {broker: _runs(seen) for broker, seen in by_broker.items()}


def _runs(commits: list[SeenCommit]) -> list[PersistRun]:
    runs: list[list[SeenCommit]] = []
    for commit in commits:
        if not runs or commit.at_ms - runs[-1][-1].at_ms > TOGETHER_MS:
            runs.append([])
        runs[-1].append(commit)
    return [
        PersistRun(run[0].at_ms, run[-1].at_ms, frozenset(c.queue for c in run), any(c.stayed for c in run))
        for run in runs
    ]
