"""How far behind a group is on one queue, in messages as `mqadmin consumerProgress` counts them, and in seconds.

Every figure is a number, a proven zero, or unknown with its reason.
Source: AdminBrokerProcessor#getConsumeStats @4.9.4, 5.3.3 (messages, and no time of an offset ahead of its queue);
MetricsCollectTask of rocketmq-exporter (the age of the oldest unread message is the time lag).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from parsers.values.java import to_long
from parsers.values.topics import is_lmq, pop_retry_topics
from recovery.lives.offset_lives import DoubtfulOffset, OffsetLife

Status = Literal["number", "zero", "unknown"]

OffsetTable = Mapping[tuple[str, str], Mapping[int, int]]
"""(group, topic) -> queue_id -> next message number to consume."""
QueueEnds = Mapping[tuple[str, int], tuple[int, int]]
"""(topic, queue_id) -> first message number that still exists, next one to come."""
QueueMessage = tuple[str, int, int]
"""(topic, queue_id, queue_offset): one message by its place in a queue."""

MOST_READ_QUEUES = 1 << 16
NO_TOPIC = "the topic is not in topics.json: the broker leaves it out of consumerProgress"
TOPIC_DELETED = (
    "the topic was deleted: the broker leaves it out of consumerProgress; created again, it counts from 0, and an "
    "offset that stays would skip its messages"
)
NOT_THEN = "the topic was deleted and created again later: its queues of that time are gone"
LOG_NOT_FOUND = "the log was not found, and storePathCommitLog, which says where it lies, is missing or wrong"
WITHOUT_LOG = f"which messages were deleted unread, and former lives of the topic, are unknown: {LOG_NOT_FOUND}"
NO_FILES = "the store has no file of this queue: it never had a message, or lost its files; the broker counts from 0"
AHEAD = "the offset is ahead of the queue"
BECAME_SHORTER = f"{AHEAD}: the queue became shorter, or the offset was set by hand; seconds are not known then"
DELETED_UNREAD = "of them were deleted unread"
OLDEST_NOT_FOUND = "the oldest unread message was not found"
POPPED = "the group pops: what it has not acknowledged counts as consumed here (`pop` tells what is in flight)"
POPPED_BY_RECORDS = (
    "the group pops, and kvStore keeps it: what it popped last counts as unread here until its next pop, acknowledged "
    "or not, and what it has not acknowledged of earlier pops as consumed (`pop` tells what is in flight)"
)
"""PopConsumerService#handleGetMessageResult @5.3.3 stores where a pop began; where it ended is a pull offset."""
LAST_DONE = (
    "the offset of this group is the last checkpoint that it is done with: one less waits for it than consumerProgress "
    "counts (`pop --revive`)"
)
"""PopReviveService#consumeReviveMessage @5.0.0, 5.3.3."""
NOT_STORED = (
    "no offset is stored for this queue: consumerProgress counts from 0; where the group starts is its client's choice"
)
NOTHING_TO_READ = "no offset is stored, and the store has no message of this queue"


@dataclass(frozen=True, slots=True)
class QueuePosition:
    """What the store says about one queue as one group sees it; None is unknown.

    Attributes:
        broker_offset: next message number of the queue.
        min_queue_offset: first message that still exists.
        consumer_offset: next message number to consume; None when none is stored.
        oldest_unread_ms: store timestamp of the first message that is neither consumed nor deleted.
        why_unknown: what kept `broker_offset` or `oldest_unread_ms` from being known.
        hidden_by: the topic's readQueueNums, where the queue is at or above it.
        doubt: why `consumer_offset` may not count messages of this queue, None where nothing speaks for that.
        has_files: False for a queue that the store has no file of.
    """

    broker_offset: int | None
    min_queue_offset: int | None
    consumer_offset: int | None
    oldest_unread_ms: int | None = None
    why_unknown: str | None = None
    hidden_by: int | None = None
    doubt: DoubtfulOffset | None = None
    has_files: bool = True


@dataclass(frozen=True, slots=True)
class Lag:
    """One row of the table `lag`, without its broker. `at_ms` is epoch milliseconds, `seconds_behind` seconds."""

    group: str
    topic: str
    queue_id: int
    at_ms: int
    broker_offset: int | None
    consumer_offset: int
    messages_behind: int | None
    seconds_behind: float | None
    status: Status
    reason: str | None


@dataclass(frozen=True, slots=True)
class GroupQueue:
    """One queue of a topic as one group sees it."""

    group: str
    topic: str
    queue_id: int
    position: QueuePosition


def popped_topics(offsets: OffsetTable) -> set[tuple[str, str]]:
    """(group, topic) that a stored offset proves to be popped: the group has one on the topic's own retry topic of POP.

    A broker stores it when it makes that topic; nothing was delivered again to groups and topics that are missing here.
    Source: PopReviveService#addRetryTopicIfNotExist, #initPopRetryOffset @5.0.0, 5.3.3.
    """
    pairs = ((group, topic, each) for group, topic in offsets for each in pop_retry_topics(group, topic))
    proven = [(group, topic, each) for group, topic, each in pairs if each != topic and (group, each) in offsets]
    return {(group, topic) for group, *topics in proven for topic in topics}


def tells_of_pops(reason: str | None) -> bool:
    """Whether a row's reason says that its group pops, so that its figures are no proof that anything was read."""
    return reason is not None and (POPPED in reason or POPPED_BY_RECORDS in reason)


def group_queues(offsets: OffsetTable, read_queue_nums: Mapping[str, int], ends: QueueEnds) -> Iterator[GroupQueue]:
    """Every queue that counts for a group with a stored offset, sorted by group, topic and queue.

    That is each read queue of the topic, with an offset or without; of a light topic (which no configuration lists) its
    single queue; of a topic that is not configured the queues with an offset, whose end stays unknown. A queue without
    a folder ends at 0, as the broker counts. Of a topic with more than MOST_READ_QUEUES only the queues that
    have a folder or an offset: no broker has that many, damaged bytes can say so.
    Source: AdminBrokerProcessor#getConsumeStats @5.3.3.
    """
    for (group, topic), stored in sorted(offsets.items()):
        configured = read_queue_nums.get(topic, 1 if is_lmq(topic) else None)
        for queue_id in sorted(stored) if configured is None else _read_queues(topic, configured, stored, ends):
            if configured is None:
                position = QueuePosition(None, None, stored[queue_id], why_unknown=NO_TOPIC)
            else:
                first, end = ends.get((topic, queue_id), (0, 0))
                position = QueuePosition(end, first, stored.get(queue_id), has_files=(topic, queue_id) in ends)
            yield GroupQueue(group, topic, queue_id, position)


def _read_queues(topic: str, configured: int, stored: Iterable[int], ends: QueueEnds) -> Iterable[int]:
    if configured <= MOST_READ_QUEUES:
        return range(configured)
    met = {queue_id for named, queue_id in ends if named == topic} | set(stored)
    return sorted(queue_id for queue_id in met if queue_id < configured)


def unread_messages(queues: list[GroupQueue]) -> set[QueueMessage]:
    """The messages whose store timestamps `lag_rows` wants to know."""
    places = ((queue.topic, queue.queue_id, first_unread(queue.position)) for queue in queues)
    return {(topic, queue_id, place) for topic, queue_id, place in places if place is not None}


def lag_rows(queues: list[GroupQueue], store_times_ms: Mapping[QueueMessage, int], at_ms: int) -> Iterator[Lag]:
    """The lag of every queue at one instant, from the store timestamps of its first unread messages."""
    for queue in queues:
        unread = first_unread(queue.position)
        stored_ms = None if unread is None else store_times_ms.get((queue.topic, queue.queue_id, unread))
        position = replace(queue.position, oldest_unread_ms=stored_ms)
        yield queue_lag(queue.group, queue.topic, queue.queue_id, at_ms, position)


def queue_lag(group: str, topic: str, queue_id: int, at_ms: int, position: QueuePosition) -> Lag:
    """The lag of one group on one queue.

    Example: broker_offset 421, consumer_offset 207 -> messages_behind 214; seconds_behind is at_ms minus the store
    timestamp of message 207.
    """
    consumer_offset = max(position.consumer_offset or 0, 0)  # Java: consumerOffset < 0 counts as 0
    behind = None if position.broker_offset is None else to_long(position.broker_offset - consumer_offset)
    return Lag(
        group=group,
        topic=topic,
        queue_id=queue_id,
        at_ms=at_ms,
        broker_offset=position.broker_offset,
        consumer_offset=consumer_offset,
        messages_behind=behind,
        seconds_behind=_seconds(position, behind, at_ms),
        status="unknown" if behind is None else "number" if behind else "zero",
        reason=_reason(position, behind),
    )


def first_unread(position: QueuePosition) -> int | None:
    """The queue offset whose store time `oldest_unread_ms` asks for; None when nothing unread is known to exist."""
    if position.consumer_offset is None or position.broker_offset is None:
        return None
    unread = max(position.consumer_offset, position.min_queue_offset or 0, 0)
    return unread if unread < position.broker_offset else None


def hidden_reason(read_queue_nums: int) -> str:
    """Why a queue at or above readQueueNums is not read."""
    return f"readQueueNums is {read_queue_nums}: consumers are not assigned this queue, consumerProgress leaves it out"


def doubt_reason(doubt: DoubtfulOffset) -> str:
    """What is to be said of an offset that is, or may be, of a former life."""
    again = "the topic was deleted and created again"
    if doubt.life is OffsetLife.UNKNOWN:
        return (
            f"{again}, and the store does not tell which life the offset is of: if of a former one, the "
            f"{doubt.skipped} living messages before it were never read and will be skipped"
        )
    if not doubt.skipped:
        return f"{again}: the offset is of a former life; this queue has no living message"
    return (
        f"{again}: the offset is of a former life, beyond the living queue's end; the next pull goes on at the end and "
        f"skips {doubt.skipped} living messages (before 4.9.4 at 0, where the queue starts there)"
    )


def _seconds(position: QueuePosition, behind: int | None, at_ms: int) -> float | None:
    if behind is None:
        return None
    if not behind:
        return 0.0
    if behind < 0:  # what the group read is not in the queue: consumerProgress shows N/A for its time
        return None
    if position.consumer_offset is None or position.oldest_unread_ms is None:
        return None
    return max(0, at_ms - position.oldest_unread_ms) / 1000


def _reason(position: QueuePosition, behind: int | None) -> str | None:
    if behind is None:
        return position.why_unknown or "the queue's end is not known"
    if position.hidden_by is not None:
        hidden = hidden_reason(position.hidden_by)
        return hidden if position.consumer_offset is not None else f"{hidden}; {NOT_STORED}"
    if position.consumer_offset is None:
        return NOT_STORED if behind else NOTHING_TO_READ
    if position.doubt is not None:
        return doubt_reason(position.doubt)
    if not position.has_files:
        return NO_FILES if not behind else f"{AHEAD}: {NO_FILES}"
    if behind < 0:
        return BECAME_SHORTER
    deleted = min(position.min_queue_offset or 0, position.broker_offset or 0) - max(position.consumer_offset, 0)
    reasons = [f"{deleted} {DELETED_UNREAD}"] if deleted > 0 else []
    if behind and position.oldest_unread_ms is None:
        reasons.append(f"seconds unknown: {position.why_unknown or OLDEST_NOT_FOUND}")
    return "; ".join(reasons) or None
