"""Why a client committed an offset below the one that the broker had stored."""

from __future__ import annotations

from collections.abc import Iterator

from rebalance.diagnosis.cause import LATE_COMMIT, UNKNOWN, WENT_BACK, Cause
from rebalance.model.span import EVER
from rebalance.model.timing import SETTLED_MS
from rebalance.ownership.history import GroupHistory
from rebalance.processes.group_record import Rollback


def rollback_causes(history: GroupHistory) -> Iterator[tuple[Rollback, tuple[str, ...], Cause]]:
    """Each commit below the stored offset, the client ids it is of, and its cause.

    It is late where the queue changes hands, or another had it; who held it all the time went back itself, as a reset
    or a broker's correction makes a client do. Where nothing tells whose it is, the cause is not known.
    """
    for rollback in history.rollbacks:
        client_id = rollback.connection.channel.client_id if rollback.connection else None
        from_ms, until_ms = rollback.at_ms - SETTLED_MS, rollback.at_ms + SETTLED_MS
        near = [
            tenure
            for tenure in history.by_queue.get(rollback.queue, ())
            if tenure.begin_latest <= until_ms and from_ms <= (EVER if tenure.end_latest is None else tenure.end_latest)
        ]
        kept = [t.life.client_id for t in near if t.begin_latest <= from_ms and until_ms <= t.end_earliest]
        if not client_id or not near:
            cause = UNKNOWN
        elif len(near) == 1 and kept == [client_id]:
            cause = WENT_BACK
        else:
            cause = LATE_COMMIT
        yield rollback, (client_id,) if client_id else (), Cause(cause)
