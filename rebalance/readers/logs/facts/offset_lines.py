"""What lines of a log say of offsets that were moved: by an admin, by a broker's correction, or by a late commit.

Source of the texts: PullMessageProcessor#composeResponseHeader, AdminBrokerProcessor#resetOffset(Inner),
Broker2Client#resetOffset, ConsumerOffsetManager#commitOffset and #cleanOffsetByTopic,
ConsumerManageProcessor#updateConsumerOffset, DefaultMQPushConsumerImpl#pullMessage @4.4.0 - 5.3.3.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import NamedTuple

from rebalance.readers.logs.lines import texts
from rebalance.readers.logs.lines.reader import LogEvent

_RESET_QUEUE = re.compile(
    r'\{"brokerName":"([^"]{0,255}+)","queueId":([0-9]{1,9}+),"topic":"([^"]{0,255}+)"\}:(-?[0-9]{1,18}+)'
)
"""One queue of MessageQueue -> offset as fastjson prints it: keys are objects."""
_ILLEGAL = re.compile(
    r"PullRequest \[consumerGroup=(\S{1,255}?), messageQueue=(MessageQueue \[.{1,600}?\]), "
    r"nextOffset=(-?[0-9]{1,18}+)\]"
    r"(?: PullResult \[pullStatus=\w{1,64}+, nextBeginOffset=(-?[0-9]{1,18}+), )?"
)

_LOCK_KEY = re.compile(r"([^@]{1,512}+)@([^@]{1,512}+)@([0-9]{1,9})")
"""topic@group@queueId (PopMessageProcessor#popMsgFromQueue)."""
_OFFSET_OF_QUEUE = re.compile(r"([0-9]{1,9})=(-?[0-9]{1,18})")
"""One entry of a map as Java prints it: queue id, offset."""
_NUMBER = re.compile(r"-?[0-9]{1,18}")


class LineKind(StrEnum):
    """What a line says."""

    RESET_REQUESTED = "reset_requested"
    RESET_SENT = "reset_sent"
    RESET_DONE = "reset_done"
    CORRECTED = "corrected"
    POP_CORRECTED = "pop_corrected"
    TOO_SMALL = "too_small"
    BEYOND_END = "beyond_end"
    EMPTY_QUEUE = "empty_queue"
    COMMIT_REJECTED = "commit_rejected"
    COMMIT_LESS = "commit_less"
    DROPPED = "dropped"
    COMMITTED = "committed"
    STARTED = "started"
    FLOW_CONTROL = "flow_control"


class OffsetLine(NamedTuple):
    """One statement of a line. What it does not say is None.

    Attributes:
        at_ms, early_ms, late_ms, record: as of `LogEvent`.
        before: the offset that was asked for, or that stood before.
        after: the offset that counts from then on.
        by: a client id, or an address.
        timestamp_ms: of a reset by time; -1: the queue's maximum.
    """

    kind: LineKind
    at_ms: int
    early_ms: int
    late_ms: int
    record: int
    group: str | None = None
    topic: str | None = None
    queue_id: int | None = None
    broker: str | None = None
    before: int | None = None
    after: int | None = None
    by: str | None = None
    timestamp_ms: int | None = None


def offset_lines(event: LogEvent) -> Iterator[OffsetLine]:
    """What a recognised entry says of offsets, queue by queue; mostly nothing."""
    build = _BUILDERS.get(event.template.name)
    if build is not None:
        yield from build(event, event.named_fields)


Fields = dict[str, str]


def _line(event: LogEvent, kind: LineKind, **told: object) -> OffsetLine:
    return OffsetLine(kind, event.at_ms, event.early_ms, event.late_ms, event.record, **told)  # type: ignore[arg-type]


def _corrected(event: LogEvent, fields: Fields) -> Iterator[OffsetLine]:
    before, after = int(fields["requested"]), int(fields["queue_offset"])
    where = {"group": fields["group"], "topic": fields["topic"]}
    yield _line(event, LineKind.CORRECTED, **where, before=before, after=after)


def _pop_corrected(event: LogEvent, fields: Fields) -> Iterator[OffsetLine]:
    """A pop that began elsewhere than at the group's stored offset, as the broker found no message there; 5.0.0-alpha
    answers `null` where it has no queue."""
    if (place := _LOCK_KEY.fullmatch(fields["lock_key"])) and _NUMBER.fullmatch(fields["answered"]):
        where = {"topic": place[1], "group": place[2], "queue_id": int(place[3])}
        told = {"before": int(fields["requested"]), "after": int(fields["answered"])}
        yield _line(event, LineKind.POP_CORRECTED, **where, **told)


def _pop_service_corrected(event: LogEvent, fields: Fields) -> Iterator[OffsetLine]:
    where = {"group": fields["group"], "topic": fields["topic"], "queue_id": int(fields["queue_id"])}
    told = {"before": int(fields["requested"]), "after": int(fields["queue_offset"])}
    yield _line(event, LineKind.POP_CORRECTED, **where, **told)


def _too_small(event: LogEvent, fields: Fields) -> Iterator[OffsetLine]:
    where = {"group": fields["group"], "topic": fields["topic"], "by": texts.address(fields["remote"])}
    before, after = int(fields["requested"]), int(fields["queue_offset"])
    yield _line(event, LineKind.TOO_SMALL, **where, before=before, after=after)


def _beyond_end(event: LogEvent, fields: Fields) -> Iterator[OffsetLine]:
    before, by = int(fields["requested"]), texts.address(fields["remote"])
    after = int(fields["queue_offset"]) if "queue_offset" in fields else None
    yield _line(event, LineKind.BEYOND_END, before=before, after=after, by=by)


def _empty_queue(event: LogEvent, fields: Fields) -> Iterator[OffsetLine]:
    yield _line(
        event,
        LineKind.EMPTY_QUEUE,
        group=fields["group"],
        topic=fields["topic"],
        queue_id=int(fields["queue_id"]),
        before=int(fields["requested"]),
        after=int(fields["queue_offset"]),
    )


def _reset_requested(event: LogEvent, fields: Fields) -> Iterator[OffsetLine]:
    timestamp = fields["timestamp"]
    yield _line(
        event,
        LineKind.RESET_REQUESTED,
        group=fields["group"],
        topic=fields["topic"],
        by=texts.address(fields["remote"]),
        timestamp_ms=int(timestamp) if _NUMBER.fullmatch(timestamp) else None,
    )


def _reset_sent(event: LogEvent, fields: Fields) -> Iterator[OffsetLine]:
    yield _line(event, LineKind.RESET_SENT, group=fields["group"], topic=fields["topic"], by=fields["client_id"])


def _reset_done(event: LogEvent, fields: Fields) -> Iterator[OffsetLine]:
    for broker, queue_id, topic, after in _RESET_QUEUE.findall(fields["text"]):
        where = {"group": fields["group"], "topic": topic, "queue_id": int(queue_id), "broker": broker}
        yield _line(event, LineKind.RESET_DONE, **where, after=int(after))


def _rejected(event: LogEvent, fields: Fields) -> Iterator[OffsetLine]:
    where = {"group": fields["group"], "topic": fields["topic"], "queue_id": int(fields["queue_id"])}
    yield _line(event, LineKind.COMMIT_REJECTED, **where, after=int(fields["queue_offset"]))


def _less(event: LogEvent, fields: Fields) -> Iterator[OffsetLine]:
    topic, _, group = fields["topic_at_group"].rpartition("@")
    where = {"group": group, "topic": topic, "queue_id": int(fields["queue_id"]), "by": texts.address(fields["remote"])}
    yield _line(event, LineKind.COMMIT_LESS, **where, before=int(fields["stored"]), after=int(fields["requested"]))


def _dropped(event: LogEvent, fields: Fields) -> Iterator[OffsetLine]:
    topic, _, group = fields["topic_at_group"].rpartition("@")
    for queue_id, before in _OFFSET_OF_QUEUE.findall(fields["text"]):
        where = {"group": group, "topic": topic, "queue_id": int(queue_id)}
        yield _line(event, LineKind.DROPPED, **where, before=int(before))


def _committed(event: LogEvent, fields: Fields) -> Iterator[OffsetLine]:
    yield from _of_queue(event, LineKind.COMMITTED, fields["mq"], fields, after=int(fields["queue_offset"]))


def _illegal(event: LogEvent, fields: Fields) -> Iterator[OffsetLine]:
    if (found := _ILLEGAL.search(fields["text"])) and found[4] is not None:
        told = {"before": int(found[3]), "after": int(found[4])}
        yield from _of_queue(event, LineKind.CORRECTED, found[2], {"group": found[1]}, **told)


def _started(event: LogEvent, fields: Fields) -> Iterator[OffsetLine]:
    if found := _ILLEGAL.search(fields["pull_request"]):
        after = int(fields.get("queue_offset", found[3]))
        yield from _of_queue(event, LineKind.STARTED, found[2], {"group": found[1]}, after=after)


def _flow_control(event: LogEvent, fields: Fields) -> Iterator[OffsetLine]:
    if found := _ILLEGAL.search(fields["more"]):
        yield from _of_queue(event, LineKind.FLOW_CONTROL, found[2], {"group": found[1]}, after=int(found[3]))


def _of_queue(event: LogEvent, kind: LineKind, mq: str, fields: Fields, **told: int) -> Iterator[OffsetLine]:
    queue = texts.queue(mq)
    if queue is not None:
        where = {"group": fields["group"], "topic": queue.topic, "queue_id": queue.queue_id}
        yield _line(event, kind, **where, broker=queue.broker_name, by=fields.get("client_id"), **told)


_BUILDERS: dict[str, Callable[[LogEvent, Fields], Iterator[OffsetLine]]] = {
    "pull_corrected": _corrected,
    "pop_offset_corrected": _pop_corrected,
    "pop_service_offset_corrected": _pop_service_corrected,
    "pull_below_minimum": _too_small,
    "pull_beyond_end": _beyond_end,
    "pull_beyond_end_fixed": _beyond_end,
    "pull_of_empty_queue": _empty_queue,
    "reset_requested": _reset_requested,
    "reset_sent": _reset_sent,
    "reset_done": _reset_done,
    "commit_rejected": _rejected,
    "commit_rolled_back": _less,
    "topic_offsets_dropped": _dropped,
    "offset_persisted": _committed,
    "go_offset_persisted": _committed,
    "offset_illegal": _illegal,
    "pull_request_added": _started,
    "first_pull": _started,
    "flow_control": _flow_control,
}
