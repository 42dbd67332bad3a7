"""What a broker holds of each queue, as rows."""

from __future__ import annotations

from dataclasses import dataclass

from recovery.broker.memory import BrokerMemory
from recovery.broker.store_folder import QueueKey


@dataclass(frozen=True, slots=True)
class QueueRow:
    """One queue at one moment. `next_queue_offset` goes to the next message put, None when the table has none."""

    topic: str
    queue_id: int
    min_queue_offset: int
    max_queue_offset: int
    max_physical_offset: int
    next_queue_offset: int | None


def queue_rows(memory: BrokerMemory) -> tuple[QueueRow, ...]:
    """Every queue the broker holds, by topic and id."""
    return tuple(
        QueueRow(
            topic,
            queue_id,
            queue.min_queue_offset,
            queue.max_queue_offset,
            queue.max_physical_offset,
            _next_offset(memory, (topic, queue_id)),
        )
        for (topic, queue_id), queue in sorted(memory.every_queue.items())
    )


def _next_offset(memory: BrokerMemory, key: QueueKey) -> int | None:
    """A queue in a database is asked for it when a message comes. RocksDBConsumeQueue#assignQueueOffset."""
    if memory.database is not None:
        return memory.database.queues[key].max_queue_offset
    return memory.next_offsets.get(f"{key[0]}-{key[1]}")
