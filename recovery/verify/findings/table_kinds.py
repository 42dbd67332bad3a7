"""Kinds of findings about rows of config/ that the store contradicts."""

from __future__ import annotations

from recovery.verify.findings.kind import REBUILD, Kind

TABLE_KINDS: dict[str, Kind] = {
    "queue_without_topic_config": Kind(
        "warning",
        "commitlog",
        "The queue has messages in the log, and topics.json does not know its topic.",
        "The queue is loaded, but clients get no route to it.",
        "A slave has its topics from its master: change nothing there, and look at the master's topics.json. Of a "
        "master: if the topic is wanted, create it with as many queues; if it was deleted on purpose, delete it again "
        "(`mqadmin deleteTopic`).",
    ),
    "queue_beyond_read_queues": Kind(
        "warning",
        "config",
        "Groups have unread messages in queues at or above the topic's readQueueNums: consumers are assigned none of "
        "them, and consumerProgress leaves them out.",
        "A start changes nothing about it; the messages are deleted with their files.",
        "Raise the topic's readQueueNums again (`mqadmin updateTopic -r`, writeQueueNums as it is) until the groups "
        "have consumed these queues, then lower it, no further than writeQueueNums.",
    ),
    "topic_config_without_queue": Kind(
        "warning",
        "commitlog",
        "topics.json names the topic and the log has its messages, but it has no queue.",
        "The queue starts again at offset 0.",
        REBUILD,
    ),
    "consumer_offset_below_min": Kind(
        "warning",
        "consumequeue",
        "The messages between are expired.",
        "The consumer goes on at the minimum.",
        "None needed: the group lost these messages unread.",
    ),
    "consumer_offset_above_max": Kind(
        "error",
        "consumequeue",
        "The queue is shorter than what was consumed of it.",
        "A pull answers OFFSET_OVERFLOW; the client corrects its offset and may skip or repeat messages.",
        "Set the group's offset to the queue's minimum: it repeats messages and skips none. The queue's maximum skips "
        "what was stored since the queue became shorter.",
    ),
    "consumer_offset_of_former_life": Kind(
        "warning",
        "consumequeue",
        "The topic was deleted and created again, and counts from 0; the offset counts messages of a former life.",
        "The next pull of the group goes on at the queue's end (before 4.9.4 at 0, where the queue starts there): what "
        "the queue has is skipped.",
        "Before the group comes back, set its offset to the living queue's minimum: it repeats messages and skips "
        "none.",
    ),
    "consumer_offset_of_unknown_life": Kind(
        "warning",
        "unknown",
        "The topic was deleted and created again, and counts from 0. Both lives have messages up to this offset.",
        "The group goes on at the offset. If it is of the former life, living messages before it are never delivered.",
        "Find out whether the group has consumed since the topic was created again. If it has not, set its offset to "
        "the living queue's minimum, which repeats messages and skips none; if it has, leave it.",
    ),
    "delay_offset_above_max": Kind(
        "error",
        "consumequeue",
        "The schedule queue is shorter than what was delivered of it.",
        "Delivery of this level corrects its offset to the queue's end.",
        "With the broker stopped, set the offset in delayOffset.json to the queue's minimum: it delivers messages "
        "again and skips none. The queue's maximum skips what is still to be delivered.",
    ),
    "delay_offset_below_min": Kind(
        "warning",
        "consumequeue",
        "The delayed messages between are expired undelivered.",
        "Delivery of this level goes on at the minimum.",
        "None needed: these messages are lost.",
    ),
}
