"""Why a client committed an offset below the one that the broker had stored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rebalance.diagnosis.cause import LATE_COMMIT, UNKNOWN, WENT_BACK, Cause
from rebalance.model.message_queue import MessageQueue
from rebalance.model.span import EVER
from rebalance.model.timing import SETTLED_MS
from rebalance.ownership.history import GroupHistory
from rebalance.processes.group_record import Rollback
from rebalance.tenures.queue_table import Tenure


def rollback_causes(history: GroupHistory) -> Iterator[tuple[Rollback, tuple[str, ...], Cause]]:
    """Each commit below the stored offset, the client ids it is of, and its cause.

    It is late where another had the queue shortly before or after; who alone had it went back itself, as a reset or a
    broker's correction makes a client do. Where nothing tells whose it is, the cause is not known.
    """
    for rollback in history.rollbacks:
        client_id = rollback.connection.channel.client_id if rollback.connection else None
        from_ms, until_ms = rollback.at_ms - SETTLED_MS, rollback.at_ms + SETTLED_MS
        near = [
            tenure
            for tenure in _held(history, rollback.queue)
            if tenure.begin_latest <= until_ms and from_ms <= (EVER if tenure.end_latest is None else tenure.end_latest)
        ]
        owners = {(tenure.life.key, tenure.life.client_id) for tenure in near}
        if not client_id or not owners:
            cause = UNKNOWN
        elif len(owners) == 1 and next(iter(owners))[1] == client_id:
            cause = WENT_BACK
        else:
            cause = LATE_COMMIT
        yield rollback, (client_id,) if client_id else (), Cause(cause)


def _held(history: GroupHistory, queue: MessageQueue) -> Sequence[Tenure]:
    """A queue's tenures; where a broker's log calls its broker otherwise than clients do, those of the only queue of
    its topic and number."""
    if queue.broker_name in {other.broker_name for other in history.by_queue}:
        return history.by_queue.get(queue, ())
    alike = [other for other in history.by_queue if (other.topic, other.queue_id) == (queue.topic, queue.queue_id)]
    return history.by_queue[alike[0]] if len(alike) == 1 else ()
