"""What a broker holds of each queue, as rows."""

from __future__ import annotations

from dataclasses import dataclass

from recovery.broker.memory import BrokerMemory
from recovery.broker.store_folder import QueueKey


@dataclass(frozen=True, slots=True)
class QueueRow:
    """One queue at one moment. `next_queue_offset` goes to the next message put, None when the table has none.

    All numbers are None of a queue in a database whose end is open.
    """

    topic: str
    queue_id: int
    min_queue_offset: int | None
    max_queue_offset: int | None
    max_physical_offset: int | None
    next_queue_offset: int | None


def queue_rows(memory: BrokerMemory) -> tuple[QueueRow, ...]:
    """Every queue the broker holds, by topic and id."""
    undecided = memory.undecided_queues
    return tuple(
        QueueRow(*key, None, None, None, None)
        if key in undecided
        else QueueRow(
            *key,
            queue.min_queue_offset,
            queue.max_queue_offset,
            queue.max_physical_offset,
            _next_offset(memory, key),
        )
        for key, queue in sorted(memory.every_queue.items())
    )


def _next_offset(memory: BrokerMemory, key: QueueKey) -> int | None:
    """A queue in a database is asked for it when a message comes. RocksDBConsumeQueue#assignQueueOffset."""
    if memory.database is not None:
        return memory.database.queues[key].max_queue_offset
    return memory.next_offsets.get(f"{key[0]}-{key[1]}")
