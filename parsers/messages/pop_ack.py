"""POP's acks (`ack`, since 5.1.2 `bAck`): messages of one pop that were consumed, written to the revive topic.

5.0.0 stores the long names of the fields.
"""

from __future__ import annotations

from parsers.messages.declared import Named
from parsers.messages.json_body import JsonKind

TAG, BATCH_TAG = "ack", "bAck"

FIELDS = (
    Named("topic", "t", "text", "popped from this topic", "topic"),
    Named("queue_id", "q", "int32", "and this queue", "queueId"),
    Named("group", "c", "text", "by this consumer group", "consumerGroup"),
    Named("start_queue_offset", "so", "int64", "first queue offset of the pop, as in its checkpoint", "startOffset"),
    Named("ack_queue_offset", "ao", "int64", "queue offset of the message acked", "ackOffset"),
    Named("pop_time_ms", "pt", "time_ms", "when it was popped, as in its checkpoint", "popTime"),
    Named("broker", "bn", "text", "name of the broker it was popped from", "brokerName"),
)
POP_ACK = JsonKind(
    "pop_ack", "one popped message acked (tag ack)", "AckMsg, AckMessageProcessor#appendAck @5.0.0 - 5.3.3", *FIELDS
)
POP_BATCH_ACK = JsonKind(
    "pop_batch_ack",
    "several popped messages acked (tag bAck)",
    "BatchAckMsg, AckMessageProcessor#appendAck @5.1.2 - 5.3.3",
    *FIELDS,
    Named("ack_queue_offsets", "aol", "int64_list", "queue offsets of the messages acked", "ackOffsetList"),
)
