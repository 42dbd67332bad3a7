"""OFFSET_MOVED_EVENT: the messages in which a 4.x broker tells that it corrected a pull.

Source: PullMessageProcessor#generateOffsetMovedEvent, OffsetMovedEvent @4.4.0 - 4.9.8. 5.x writes none by default.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from parsers.commitlog.message import Message
from parsers.config.values import int32, int64, text
from parsers.errors import StoreFormatError
from parsers.fastjson import parse
from parsers.queues import StoreQueues
from recovery.scan.log_access import LogAccess

TOPIC = "OFFSET_MOVED_EVENT"
MOST_BODY = 1 << 16


@dataclass(frozen=True, slots=True)
class MovedRecord:
    """An OFFSET_MOVED_EVENT message: what a 4.x broker told of a corrected pull."""

    stored_ms: int
    group: str
    topic: str
    queue_id: int
    before: int
    after: int
    evidence: str


def moved_records(queues: StoreQueues, log: LogAccess) -> Iterator[MovedRecord]:
    """The messages that the topic's queues lead to; one whose body is none is left out."""
    for key, queue in queues.items():
        if key[0] != TOPIC:
            continue
        for batch in queue.batches():
            for place in batch["physical_offset"].to_pylist():
                message = log.message(place)
                told = None if message is None else _record(message)
                if told is not None:
                    yield told


def _record(message: Message) -> MovedRecord | None:
    if len(message.body) > MOST_BODY:
        return None
    try:
        told = parse(message.body)
    except StoreFormatError:
        return None
    queue = told.get("messageQueue") if isinstance(told, dict) else None
    if not isinstance(told, dict) or not isinstance(queue, dict):
        return None
    group, topic, queue_id = text(told.get("consumerGroup")), text(queue.get("topic")), int32(queue.get("queueId"))
    before, after = int64(told.get("offsetRequest")), int64(told.get("offsetNew"))
    if group is None or topic is None or queue_id is None or before is None or after is None:
        return None
    evidence = f"{TOPIC} message at {message.physical_offset}"
    return MovedRecord(message.store_timestamp_ms, group, topic, queue_id, before, after, evidence)
