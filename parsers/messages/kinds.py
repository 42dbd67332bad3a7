"""Which kind a message is, by its topic, tag and body, and all that it says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from parsers.damage.errors import CorruptRecord, StoreFormatError
from parsers.messages.declared import BodyKind, Record
from parsers.messages.heartbeat import PROXY_HEARTBEAT
from parsers.messages.offset_moved import OFFSET_MOVED
from parsers.messages.pop_ack import BATCH_TAG, POP_ACK, POP_BATCH_ACK
from parsers.messages.pop_ack import TAG as ACK_TAG
from parsers.messages.pop_checkpoint import POP_CHECKPOINT
from parsers.messages.pop_checkpoint import TAG as CHECKPOINT_TAG
from parsers.messages.properties import DEAD_LETTER, DELAYED, GIVEN_UP, HALF, RETRY, TIMER, PropertyKind
from parsers.messages.trace import STARTS, TRACE
from parsers.messages.transaction_op import TAG as OP_TAG
from parsers.messages.transaction_op import TRANSACTION_OP
from parsers.values.topics import (
    CLOUD_TRACE_PREFIX,
    DATABASE_HALF_TOPIC,
    GIVEN_UP_TOPIC,
    HEARTBEAT_TOPIC,
    OFFSET_MOVED_TOPIC,
    REVIVE_PREFIX,
    SCHEDULE_TOPIC,
    TIMER_TOPIC,
    TRACE_TOPIC,
    TRANSACTION_OP_TOPIC,
    TRANSACTION_TOPIC,
    is_dead_letter,
    is_retry,
)

BODY_KINDS: tuple[BodyKind, ...] = (
    POP_CHECKPOINT,
    POP_ACK,
    POP_BATCH_ACK,
    TRANSACTION_OP,
    TRACE,
    OFFSET_MOVED,
    PROXY_HEARTBEAT,
)
PROPERTY_KINDS: tuple[PropertyKind, ...] = (TIMER, DELAYED, HALF, GIVEN_UP, RETRY, DEAD_LETTER)
KINDS: tuple[BodyKind | PropertyKind, ...] = (*BODY_KINDS, *PROPERTY_KINDS)

OF_REVIVE_TOPIC = {CHECKPOINT_TAG: POP_CHECKPOINT, ACK_TAG: POP_ACK, BATCH_TAG: POP_BATCH_ACK}
OF_TOPIC = {
    TIMER_TOPIC: TIMER,
    SCHEDULE_TOPIC: DELAYED,
    TRANSACTION_TOPIC: HALF,
    DATABASE_HALF_TOPIC: HALF,
    GIVEN_UP_TOPIC: GIVEN_UP,
}


@dataclass(frozen=True, slots=True)
class Decoded:
    """What a message says. `problems`: the kinds that it should be and is not, each with what is wrong."""

    records: tuple[Record, ...]
    problems: tuple[tuple[str, StoreFormatError], ...]


def property_kind(topic: str) -> PropertyKind | None:
    """The kind of a message that its properties explain; None for an ordinary topic."""
    if is_retry(topic):
        return RETRY
    return DEAD_LETTER if is_dead_letter(topic) else OF_TOPIC.get(topic)


def body_kind(topic: str, properties: Mapping[str, str], body_starts: bytes) -> BodyKind | None:
    """The kind of its body, None for what an application sent.

    A timer or delayed message is asked for the topic that it is for. A trace in a topic of a client's own shows in
    the `body_starts` of its decompressed body.
    """
    meant = properties.get("REAL_TOPIC", topic) if topic in (TIMER_TOPIC, SCHEDULE_TOPIC) else topic
    tag = properties.get("TAGS", "")
    if meant.startswith(REVIVE_PREFIX):
        return OF_REVIVE_TOPIC.get(tag)
    if meant == TRANSACTION_OP_TOPIC:
        return TRANSACTION_OP if tag == OP_TAG else None
    if meant == OFFSET_MOVED_TOPIC:
        return OFFSET_MOVED
    if meant == HEARTBEAT_TOPIC:
        return PROXY_HEARTBEAT
    if meant == TRACE_TOPIC or meant.startswith(CLOUD_TRACE_PREFIX) or body_starts.startswith(STARTS):
        return TRACE
    return None


NO_BODY = "its body cannot be decompressed"


def decoded(topic: str, properties: Mapping[str, str], body: bytes | None) -> Decoded:
    """All that a message says, from its properties and its decompressed body; nothing for an application's own.

    `body`: None where it cannot be decompressed; a kind that is recognised by its body has a problem then.
    """
    records: list[Record] = []
    problems: list[tuple[str, StoreFormatError]] = []
    held, kind = property_kind(topic), body_kind(topic, properties, (body or b"")[:16])
    if held is not None:
        try:
            records.append(held.record(properties))
        except CorruptRecord as wrong:
            problems.append((held.name, wrong))
    if kind is not None:
        try:
            if body is None:
                raise CorruptRecord(NO_BODY, field="body")
            records.extend(kind.records(body))
        except StoreFormatError as wrong:
            problems.append((kind.name, wrong))
    return Decoded(tuple(records), tuple(problems))
