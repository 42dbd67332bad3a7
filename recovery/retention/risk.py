"""When is what a group has not read yet due to be deleted, and what was deleted before it read it?

Every answer is a time, a proven nothing, or unknown with its reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from parsers.values.topics import SCHEDULE_TOPIC
from recovery.query.lag import GroupQueue, QueuePosition, Status, hidden_reason
from recovery.retention.retention import Retention

NOTHING_PENDING = "every message of the level is delivered"
GONE_UNDELIVERED = "what was not delivered of the level is deleted, and nothing else is left to deliver"
NOTHING_UNREAD = "every message of the queue is consumed"
GONE_UNREAD = "what was not consumed of the queue is deleted, and nothing else is left to consume"
NOTHING_LEFT = "no message of it is left"
NO_LEVEL_OFFSET = "no offset is stored for this level: a start delivers its whole queue, also what was delivered before"
NO_OFFSET = "no offset is stored for this queue: where the group starts is its client's choice"


@dataclass(frozen=True, slots=True)
class RetentionRisk:
    """One queue of one group.

    Attributes:
        unread_messages: stored, not consumed and not deleted; None when not known.
        deleted_unread: deleted before the group consumed them; None when not known.
        due_at_ms: when the log file with the oldest unread message is due.
        status: number (`due_at_ms` says when), zero (nothing is unread), unknown.
    """

    group: str
    topic: str
    queue_id: int
    due_at_ms: int | None
    unread_messages: int | None
    deleted_unread: int | None
    status: Status
    reason: str | None


def retention_risks(kept: Retention, queues: Iterable[GroupQueue]) -> Iterator[RetentionRisk]:
    """One row per queue that counts for a group, as `recovery.query.lag.group_queues` lists them."""
    for each in queues:
        risk, hidden_by = _risk(kept, each), each.position.hidden_by
        if hidden_by is None:
            yield risk
        else:
            reasons = filter(None, (hidden_reason(hidden_by), risk.reason))
            yield replace(risk, reason="; ".join(reasons))


@dataclass(frozen=True, slots=True)
class DelayRisk:
    """One delay level whose queue has messages.

    Attributes:
        pending_messages: stored, and not before the level's offset; None when not known.
        expired_undelivered: deleted before the broker delivered them; None when not known.
        due_at_ms: when the log file with the oldest pending message is due, delivered or not.
        status: as of a `RetentionRisk`.
    """

    level: int
    due_at_ms: int | None
    pending_messages: int | None
    expired_undelivered: int | None
    status: Status
    reason: str | None


def delay_risks(kept: Retention, next_offsets: Mapping[int, int] | None) -> Iterator[DelayRisk]:
    """One row per delay level (queue n - 1 of SCHEDULE_TOPIC_XXXX). `next_offsets`: level -> number of the next message
    to deliver; None: delayOffset.json cannot be read."""
    for (topic, queue_id), queue in sorted(kept.played.memory.every_queue.items()):
        if topic != SCHEDULE_TOPIC or not queue.max_queue_offset:
            continue
        level = queue_id + 1
        if next_offsets is None:
            yield DelayRisk(level, None, None, None, "unknown", "delayOffset.json cannot be read")
            continue
        stored = next_offsets.get(level)
        risk = _risk(kept, GroupQueue("", topic, queue_id, QueuePosition(None, None, stored or 0)))
        expired, reason = risk.deleted_unread, risk.reason
        if stored is None:
            expired, why = None, NOTHING_LEFT if risk.status == "zero" else reason
            reason = "; ".join(filter(None, (NO_LEVEL_OFFSET, why)))
        elif risk.status == "zero":
            reason = GONE_UNDELIVERED if expired else NOTHING_PENDING
        yield DelayRisk(level, risk.due_at_ms, risk.unread_messages, expired, risk.status, reason)


def _risk(kept: Retention, each: GroupQueue) -> RetentionRisk:
    memory = kept.played.memory
    queue = memory.every_queue.get((each.topic, each.queue_id))
    consumed = each.position.consumer_offset
    if not kept.played.started or each.position.why_unknown is not None:
        return _unknown(each, kept.why_not or each.position.why_unknown or "")
    if consumed is None:
        return _unknown(each, NO_OFFSET)
    if queue is None:
        return RetentionRisk(each.group, each.topic, each.queue_id, None, 0, 0, "zero", NOTHING_UNREAD)
    deleted = max(0, min(queue.min_queue_offset, queue.max_queue_offset) - max(consumed, 0))
    oldest = max(consumed, queue.min_queue_offset)
    unread = max(0, queue.max_queue_offset - oldest)
    if not unread:
        why = GONE_UNREAD if deleted else NOTHING_UNREAD
        return RetentionRisk(each.group, each.topic, each.queue_id, None, 0, deleted, "zero", why)
    physical_offset = queue.physical_offset(oldest)
    if physical_offset is None:
        return _unknown(each, f"message {oldest} has no unit in its queue", unread, deleted)
    due, reason = kept.due_of(physical_offset) if kept.why_not is None else (None, kept.why_not)
    status: Status = "unknown" if due is None else "number"
    return RetentionRisk(each.group, each.topic, each.queue_id, due, unread, deleted, status, reason)


def _unknown(each: GroupQueue, why: str, unread: int | None = None, deleted: int | None = None) -> RetentionRisk:
    return RetentionRisk(each.group, each.topic, each.queue_id, None, unread, deleted, "unknown", why)
