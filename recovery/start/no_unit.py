"""Why a message of the log is in no queue after a start."""

from __future__ import annotations

from recovery.broker.store_folder import QueueKey
from recovery.start.restart import Restart

REFUSED = "it is dispatched again and refused: its queue counts it as already there, or is further on"
DROPPED = "its unit is dropped: after a crash the queues are cut where the broker takes the DLedger log to end"
NOT_SEARCHED = (
    "its unit is in the database, before the message that the broker takes for its queue's first: a search by halves, "
    "which goes on behind a number without a unit (a batch has one for all of its messages)"
)


def why_refused(played: Restart) -> str:
    """Of a message that is dispatched again."""
    return DROPPED if played.memory.evidence.log_is_dledgers else REFUSED


def why_not_queued(played: Restart, key: QueueKey, queue_offset: int, physical_offset: int) -> str:
    """Of a message that is not dispatched. RocksDBConsumeQueueTable#binarySearchInCQ @5.2.0, 5.5.1."""
    memory, database = played.memory, played.memory.database
    queue = None if database is None else database.queues.get(key)
    if queue is not None and queue.physical_offset(queue_offset) == physical_offset:
        return NOT_SEARCHED
    if memory.evidence.log_is_dledgers and not memory.version.starts_dispatch_at_queue_maximum:
        return "it lies before what is dispatched: a node begins where it notes its log as committed"
    if memory.evidence.abort:
        return "it lies before the file from which messages are dispatched again"
    if memory.version.redispatches_after_clean_exit:
        return "after a clean exit only messages behind the queues' maximum are dispatched, the first of them left out"
    return "after a clean exit this version dispatches nothing that lies before the position where it starts"
