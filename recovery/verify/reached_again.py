"""What is told ahead of log and queues of a store that is written to, looked at once more by itself.

Checkpoint and offsets are read after log and queues, and may be of messages that came meanwhile. The ends of both only
rise: what a later look at them reaches was never beyond them.
"""

from __future__ import annotations

from collections.abc import Iterable

from parsers.checkpoints.checkpoint import Checkpoint, read_checkpoint
from parsers.damage.errors import unheard
from parsers.queues.store_queues import StoreQueues
from parsers.store.store import Store
from recovery.query.watermark import dispatched_before
from recovery.scan.log_access import LogAccess
from recovery.scan.log_runs import runs_between
from recovery.verify.findings.finding import Span


def reached_by_now(store: Store, offsets: Iterable[Span]) -> set[Span]:
    """Those of these offsets that their queue has come to as it is now: it ends there or later."""
    asked = {span for span in offsets if span.topic is not None and span.queue_id is not None}
    if not asked:
        return set()
    with StoreQueues(store, damage=unheard) as queues:
        return {span for span in asked if (span.queue_offset or 0) <= _end(queues, span, store.log_start)}


def _end(queues: StoreQueues, span: Span, commitlog_min: int) -> int:
    """The next message to come; 0 of a queue that is not there."""
    queue = queues.get((span.topic or "", span.queue_id or 0))
    return 0 if queue is None else queue.ends(commitlog_min)[1]


def checkpoint_is_reached_by_now(store: Store) -> bool:
    """Whether the log, as it is now, has come as far as its checkpoint, in times and in offsets."""
    file = store.checkpoint
    told = None if file is None else read_checkpoint(file, damage=unheard)
    return told is not None and _reaches(store, told)


def _reaches(store: Store, told: Checkpoint) -> bool:
    log, dispatched = LogAccess(store.commitlog), dispatched_before(store)
    for file in reversed(store.commitlog):
        base = file.base_offset or 0
        last = end = -1
        for run in runs_between(file, max(0, dispatched - base), file.size, lambda gap: None):
            last, end = int(run.positions[-1]), run.end
        newest = None if last < 0 else log.message(base + last)
        if newest is not None:
            times = (told.physic_msg_timestamp, told.logics_msg_timestamp, told.index_msg_timestamp)
            offset = max(told.confirm_physical_offset or 0, told.logics_physical_offset or 0)
            return max(times) <= newest.store_timestamp_ms and offset <= base + end
    return False
