"""Figures of a group's history: how much moved, how even it was, how long queues had no owner or two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from rebalance.ownership.history import GroupHistory
from rebalance.processes.process import ProcessKey
from rebalance.tenures.queue_table import Tenure


@dataclass(frozen=True, slots=True)
class GroupMetrics:
    """One row per group and topic.

    Sums over queues, in ms; `imbalance` is the mean over time of most minus least queues held.
    """

    group: str
    topic: str
    queues: int
    processes: int
    takeovers: int
    moved_queues: int
    imbalance: float | None
    owned_ms: int
    unowned_ms: int
    double_owned_ms: int
    uncertain_ms: int


def metrics_of(history: GroupHistory) -> list[GroupMetrics]:
    """Rows of one group, topics in order. Times run from the first to the last certain ownership of each queue."""
    topics: dict[str, list[list[Tenure]]] = {}
    for queue, held in history.by_queue.items():
        topics.setdefault(queue.topic, []).append(held)
    return [_of_topic(history, topic, queues) for topic, queues in sorted(topics.items())]


def _of_topic(history: GroupHistory, topic: str, queues: Sequence[list[Tenure]]) -> GroupMetrics:
    tenures = [tenure for held in queues for tenure in held]
    times = [_of_queue(held) for held in queues]
    return GroupMetrics(
        history.group,
        topic,
        len(queues),
        len({tenure.life.key for tenure in tenures}),
        len(tenures),
        sum(a.life.key != b.life.key for held in queues for a, b in pairwise(held)),
        _imbalance(tenures),
        sum(owned for owned, *_ in times),
        sum(unowned for _, unowned, *_ in times),
        sum(double for _, _, double, _ in times),
        sum(uncertain for *_, uncertain in times),
    )


def _of_queue(held: Sequence[Tenure]) -> tuple[int, int, int, int]:
    """(owned, unowned, double owned, uncertain) ms of one queue, from its first begin to its last end."""
    edges: list[tuple[int, int, int]] = []  # (instant, change of certain owners, change of merely possible ones)
    for tenure in held:
        if tenure.end_earliest > tenure.begin_latest:
            edges += [(tenure.begin_latest, 1, -1), (tenure.end_earliest, -1, 1)]
        begin = tenure.begin_latest if tenure.begin_earliest is None else tenure.begin_earliest
        end = max(tenure.end_earliest, tenure.begin_latest) if tenure.end_latest is None else tenure.end_latest
        edges += [(begin, 0, 1), (end, 0, -1)]
    edges.sort()
    owned = unowned = double = uncertain = 0
    surely = possibly = 0
    for (at_ms, more, maybe), (until_ms, *_) in pairwise(edges):
        surely, possibly = surely + more, possibly + maybe
        length = until_ms - at_ms
        owned += length if surely else 0
        double += length if surely > 1 else 0
        uncertain += length if possibly > 0 and not surely else 0
        unowned += length if not surely and possibly <= 0 else 0
    return owned, unowned, double, uncertain


def _imbalance(tenures: Sequence[Tenure]) -> float | None:
    """Most minus least queues held by the processes alive, averaged over time; None without any time."""
    changes: list[tuple[int, ProcessKey, int]] = []
    for tenure in tenures:
        if tenure.end_earliest > tenure.begin_latest:
            changes += [(tenure.begin_latest, tenure.life.key, 1), (tenure.end_earliest, tenure.life.key, -1)]
    lives = {tenure.life.key: (tenure.process.first_ms, tenure.life.end.earliest_ms) for tenure in tenures}
    changes.sort(key=lambda change: change[0])
    held = dict.fromkeys(lives, 0)
    weighted = total = 0
    for (at_ms, process, change), (until_ms, *_) in pairwise(changes):
        held[process] += change
        alive = [count for key, count in held.items() if lives[key][0] <= at_ms < lives[key][1]]
        if len(alive) > 1 and until_ms > at_ms:
            weighted += (max(alive) - min(alive)) * (until_ms - at_ms)
            total += until_ms - at_ms
    return weighted / total if total else None
