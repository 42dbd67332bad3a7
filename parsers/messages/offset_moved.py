"""OFFSET_MOVED_EVENT: a broker's note that it answered a pull with another offset than was asked for.

Written by a 4.x master, and by a slave with `offsetCheckInSlave`; 5.x writes none by default.
"""

from __future__ import annotations

from parsers.messages.declared import Named
from parsers.messages.json_body import JsonKind

OFFSET_MOVED = JsonKind(
    "offset_moved",
    "a pull that the broker answered with another offset",
    "OffsetMovedEvent, PullMessageProcessor#generateOffsetMovedEvent @4.1.0 - 4.9.8",
    Named("group", "consumerGroup", "text", "group that pulled"),
    Named("topic", "messageQueue.topic", "text", "topic it pulled from"),
    Named("queue_id", "messageQueue.queueId", "int32", "and its queue"),
    Named("broker", "messageQueue.brokerName", "text", "name of the broker"),
    Named("asked_queue_offset", "offsetRequest", "int64", "queue offset that the pull asked for"),
    Named("new_queue_offset", "offsetNew", "int64", "queue offset at which the broker let the client go on"),
)
