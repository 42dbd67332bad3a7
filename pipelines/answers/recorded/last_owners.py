"""Who has each queue where recordings end, or had it last."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from pipelines.answers.backlog.standing import QueueOwner
from pipelines.answers.offsets.record import GroupQueueKey
from pipelines.answers.recorded.heard import Heard
from rebalance.diagnosis.intervals import OwnershipInterval
from rebalance.ownership.owners import QueueOwners


def owners_at_end(heard: Heard, brokers: Collection[str]) -> dict[GroupQueueKey, QueueOwner]:
    """The owners of these brokers' queues where the recordings end, or the last ones; no client where none ever was."""
    if heard.history is None or heard.history.told is None:
        return {}
    until_ms = heard.history.told[1]
    held: dict[GroupQueueKey, list[OwnershipInterval]] = {}
    for row in heard.history.intervals:
        if row.broker in brokers:
            held.setdefault((row.group, row.topic, row.queue_id), []).append(row)
    return {
        (queue.group, queue.topic, queue.queue_id): _owner(
            queue, held.get((queue.group, queue.topic, queue.queue_id), []), until_ms
        )
        for queue in heard.history.ownership_at(until_ms)
        if queue.broker in brokers
    }


def _owner(queue: QueueOwners, held: Sequence[OwnershipInterval], until_ms: int) -> QueueOwner:
    """`held`: all that had the queue at any time."""
    if not queue.certain:
        return QueueOwner(queue.possible, is_certain=False)
    if queue.owners:
        own = [row.begin_latest for row in held if row.client_id in queue.owners and _is_open(row, until_ms)]
        return QueueOwner(queue.owners, is_certain=True, since_ms=max(own, default=None))
    ended = [row for row in held if row.end_latest is not None]
    end_ms = max((row.end_latest or 0 for row in ended), default=None)
    last_ms = max((row.end_earliest for row in ended), default=0)
    last = sorted({row.client_id for row in ended if (row.end_latest or 0) >= last_ms})
    return QueueOwner(tuple(last), is_certain=len(last) < 2, until_ms=end_ms)


def _is_open(row: OwnershipInterval, until_ms: int) -> bool:
    return row.end_latest is None or row.end_latest >= until_ms
