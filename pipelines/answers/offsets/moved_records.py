"""OFFSET_MOVED_EVENT: the messages in which a 4.x broker tells that it corrected a pull.

Source: PullMessageProcessor#generateOffsetMovedEvent, OffsetMovedEvent @4.4.0 - 4.9.8. 5.x writes none by default.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from parsers.commitlog.record.message import Message
from parsers.damage.errors import StoreFormatError
from parsers.messages.offset_moved import OFFSET_MOVED
from parsers.queues.store_queues import StoreQueues
from parsers.values.topics import OFFSET_MOVED_TOPIC
from recovery.scan.log_access import LogAccess

MOST_BODY = 1 << 16


@dataclass(frozen=True, slots=True)
class MovedRecord:
    """An OFFSET_MOVED_EVENT message: what a 4.x broker writes of a corrected pull."""

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
        if key[0] != OFFSET_MOVED_TOPIC:
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
        (told,) = (record.values for record in OFFSET_MOVED.records(message.body))
    except (StoreFormatError, ValueError):  # not such a body, or an empty object
        return None
    group, topic, queue_id = told["group"], told["topic"], told["queue_id"]
    before, after = told["asked_queue_offset"], told["new_queue_offset"]
    if not (isinstance(group, str) and isinstance(topic, str)):
        return None
    if not (isinstance(queue_id, int) and isinstance(before, int) and isinstance(after, int)):
        return None
    evidence = f"{OFFSET_MOVED_TOPIC} message at {message.physical_offset}"
    return MovedRecord(message.store_timestamp_ms, group, topic, queue_id, before, after, evidence)
