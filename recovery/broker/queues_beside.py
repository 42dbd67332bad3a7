"""The queues in files beside a database of queues that answers pulls: a broker combines both, and recovers both.

Source: CombineConsumeQueueStore @5.4.0.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from recovery.broker.consume_queue import Queue
from recovery.broker.mapped_file_queue import FileList
from recovery.broker.store_folder import QueueKey
from recovery.rules.versions import BrokerVersion


@dataclass(slots=True)
class QueuesBeside:
    """The queues by topic and number. `decide`: they give messages their numbers, and say where a start begins."""

    version: BrokerVersion
    file_size: int
    decide: bool
    queues: dict[QueueKey, Queue] = field(default_factory=dict)

    def queue(self, topic: str, queue_id: int) -> Queue:
        """`findOrCreateConsumeQueue`."""
        return self.queues.setdefault((topic, queue_id), Queue(topic, queue_id, FileList(self.file_size), self.version))

    @property
    def max_physical_offset(self) -> int:
        """The maximum of the queues' maximum physical offsets, -1 without queues."""
        return max((queue.max_physical_offset for queue in self.queues.values()), default=-1)
