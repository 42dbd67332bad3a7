"""Queues at or above a topic's readQueueNums: no consumer is assigned them, and consumerProgress leaves them out.

Their messages stay until their files expire; with readQueueNums raised again consumers get them.
Source: ConsumerManageProcessor, AdminBrokerProcessor#getConsumeStats (loops to getReadQueueNums), the clients' route
(MQClientInstance#topicRouteData2TopicSubscribeInfo) @4.9.7, 5.3.3.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from recovery.query.lag import GroupQueue, OffsetTable, QueueEnds, QueuePosition, group_queues


@dataclass(frozen=True, slots=True)
class HiddenQueue:
    """One hidden queue with messages that a group has not read. `consumer_offset` None: none is stored."""

    group: str
    topic: str
    queue_id: int
    read_queue_nums: int
    consumer_offset: int | None
    min_queue_offset: int
    max_queue_offset: int

    @property
    def unread(self) -> int:
        """Messages that are there and that the group has not consumed."""
        return self.max_queue_offset - max(self.consumer_offset or 0, self.min_queue_offset)


def hidden_queues(offsets: OffsetTable, read_queue_nums: Mapping[str, int], ends: QueueEnds) -> Iterator[HiddenQueue]:
    """Per group with an offset on a topic, the topic's hidden queues that hold unread messages; sorted."""
    beyond: dict[str, list[int]] = {}
    for topic, queue_id in sorted(ends):
        if queue_id >= read_queue_nums.get(topic, queue_id + 1):
            beyond.setdefault(topic, []).append(queue_id)
    for (group, topic), stored in sorted(offsets.items()):
        for queue_id in beyond.get(topic, ()):
            first, end = ends[topic, queue_id]
            hidden = HiddenQueue(group, topic, queue_id, read_queue_nums[topic], stored.get(queue_id), first, end)
            if hidden.unread > 0:
                yield hidden


def every_queue(offsets: OffsetTable, read_queue_nums: Mapping[str, int], ends: QueueEnds) -> list[GroupQueue]:
    """The queues that count for each group, and the hidden ones with messages it has not read; sorted."""
    hidden = (
        GroupQueue(
            found.group,
            found.topic,
            found.queue_id,
            QueuePosition(
                found.max_queue_offset, found.min_queue_offset, found.consumer_offset, hidden_by=found.read_queue_nums
            ),
        )
        for found in hidden_queues(offsets, read_queue_nums, ends)
    )
    counted = group_queues(offsets, read_queue_nums, ends)
    return sorted((*counted, *hidden), key=lambda queue: (queue.group, queue.topic, queue.queue_id))
