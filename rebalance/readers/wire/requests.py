"""What each request to a broker says, with its answer where one is needed: wire records -> facts.

Source of codes and bodies: RequestCode, ClientManageProcessor, ConsumerManageProcessor, AdminBrokerProcessor,
    QueryAssignmentProcessor @5.3.3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from rebalance.facts import (
    AssignmentAnswered,
    ClientUnregistered,
    ConsumerListAnswered,
    Evidence,
    Fact,
    HeartbeatReceived,
    LockBatchAnswered,
    OffsetCommitted,
    OffsetQueried,
    PullSeen,
    RequestModeSet,
    TopicSubscription,
    UnlockBatch,
)
from rebalance.model.message_queue import MessageQueue
from rebalance.readers.malformed import Malformed
from rebalance.readers.sub_version import sub_version_ms

QUERY_CONSUMER_OFFSET = 14
UPDATE_CONSUMER_OFFSET = 15
PULL_MESSAGE = 11
HEART_BEAT = 34
UNREGISTER_CLIENT = 35
GET_CONSUMER_LIST_BY_GROUP = 38
LOCK_BATCH_MQ = 41
UNLOCK_BATCH_MQ = 42
LITE_PULL_MESSAGE = 361
QUERY_ASSIGNMENT = 400
SET_MESSAGE_REQUEST_MODE = 401
SUCCESS = 0

Record = Mapping[str, Any]
_POP = "POP"


def instant_of(record: Record) -> int:
    """`ts`, epoch ms; Malformed if it is none."""
    instant = record["ts"]
    if not isinstance(instant, int):
        raise Malformed(f"ts is {instant!r}, expected epoch milliseconds")
    return instant


def _common(request: Record, broker: str, evidence: Evidence) -> dict[str, Any]:
    remote = request["remote"]
    if not isinstance(remote, str):
        raise Malformed(f"remote is {remote!r}, expected ip:port")
    opaque = request.get("opaque")
    return {
        "at_ms": instant_of(request),
        "source": broker,
        "evidence": evidence,
        "remote": remote,
        "request_no": opaque if isinstance(opaque, int) else None,
    }


def text_of(value: object, name: str) -> str:
    """A field that must be a string; Malformed if it is not."""
    if not isinstance(value, str):
        raise Malformed(f"{name} is {value!r}, expected a string")
    return value


def _number(value: object) -> int | None:
    """Header fields are strings on the wire; None stays None."""
    return None if value is None else int(value)  # type: ignore[call-overload]


def _sub_version(fields: Mapping[str, Any]) -> int | None:
    """Epoch milliseconds."""
    number = _number(fields.get("subVersion"))
    return None if number is None else sub_version_ms(number)


def _heartbeat(request: Record, _: Record | None, broker: str, evidence: Evidence) -> Iterator[Fact]:
    body = request["body"]
    common = _common(request, broker, evidence)
    without_subscriptions = bool(body.get("withoutSub"))
    for consumer in body.get("consumerDataSet") or ():
        yield HeartbeatReceived(
            **common,
            group=text_of(consumer["groupName"], "groupName"),
            client_id=text_of(body["clientID"], "clientID"),
            message_model=consumer.get("messageModel"),
            consume_type=consumer.get("consumeType"),
            consume_from_where=consumer.get("consumeFromWhere"),
            client_version=_number(request.get("clientVersion")),
            subscriptions=None if without_subscriptions else _subscriptions(consumer),
        )


def _subscriptions(consumer: Record) -> tuple[TopicSubscription, ...]:
    read = (
        TopicSubscription(
            text_of(entry["topic"], "topic"), entry.get("subString"), entry.get("expressionType"), _sub_version(entry)
        )
        for entry in consumer.get("subscriptionDataSet") or ()
    )
    return tuple(sorted(read, key=lambda entry: entry.topic))


def _unregister(request: Record, _: Record | None, broker: str, evidence: Evidence) -> Iterator[Fact]:
    header = request["header"]
    if header.get("consumerGroup"):
        yield ClientUnregistered(
            **_common(request, broker, evidence),
            group=text_of(header["consumerGroup"], "consumerGroup"),
            client_id=header["clientID"],
        )


def _consumer_list(request: Record, answer: Record | None, broker: str, evidence: Evidence) -> Iterator[Fact]:
    common = _common(request, broker, evidence)
    asked_at_ms = common["at_ms"]
    ids: tuple[str, ...] | None = None
    if answer is not None:
        common["at_ms"] = instant_of(answer)
        if answer.get("result") == SUCCESS:
            ids = tuple(text_of(one, "consumerIdList") for one in answer["body"]["consumerIdList"])
    yield ConsumerListAnswered(
        **common,
        group=text_of(request["header"]["consumerGroup"], "consumerGroup"),
        asked_at_ms=asked_at_ms,
        client_ids=ids,
        remark=answer.get("remark") if answer is not None else None,
    )


def _queue(header: Record, broker: str) -> MessageQueue:
    # bname is absent <= 4.9.4: the queue is then on the broker that was asked
    return MessageQueue(text_of(header["topic"], "topic"), header.get("bname") or broker, int(header["queueId"]))


def _offset_query(request: Record, answer: Record | None, broker: str, evidence: Evidence) -> Iterator[Fact]:
    header = request["header"]
    answered = answer is not None and answer.get("result") == SUCCESS
    yield OffsetQueried(
        **_common(request, broker, evidence),
        group=text_of(header["consumerGroup"], "consumerGroup"),
        queue=_queue(header, broker),
        queue_offset=_number((answer or {})["header"]["offset"]) if answered else None,
        result=answer.get("result") if answer is not None else None,
        answered_at_ms=instant_of(answer) if answer is not None else None,
    )


def _offset_commit(request: Record, _: Record | None, broker: str, evidence: Evidence) -> Iterator[Fact]:
    header = request["header"]
    yield OffsetCommitted(
        **_common(request, broker, evidence),
        group=text_of(header["consumerGroup"], "consumerGroup"),
        queue=_queue(header, broker),
        queue_offset=int(header["commitOffset"]),
    )


_LITE_PULL = 1 << 4  # PullSysFlag#FLAG_LITE_PULL_MESSAGE; a request code of its own came later


def _pull(request: Record, _: Record | None, broker: str, evidence: Evidence) -> Iterator[Fact]:
    header = request["header"]
    yield PullSeen(
        **_common(request, broker, evidence),
        group=text_of(header["consumerGroup"], "consumerGroup"),
        queue=_queue(header, broker),
        queue_offset=_number(header.get("queueOffset")),
        commit_offset=_number(header.get("commitOffset")),
        sub_version=_sub_version(header),
        lite=request["code"] == LITE_PULL_MESSAGE or bool((_number(header.get("sysFlag")) or 0) & _LITE_PULL),
    )


def _queues(entries: Iterable[Record]) -> tuple[MessageQueue, ...]:
    read = (
        MessageQueue(text_of(e["topic"], "topic"), text_of(e["brokerName"], "brokerName"), int(e["queueId"]))
        for e in entries
    )
    return tuple(sorted(read, key=lambda queue: queue.order))


def _lock(request: Record, answer: Record | None, broker: str, evidence: Evidence) -> Iterator[Fact]:
    body = request["body"]
    common = _common(request, broker, evidence)
    asked_at_ms = common["at_ms"]
    granted: tuple[MessageQueue, ...] | None = None
    if answer is not None:
        common["at_ms"] = instant_of(answer)
        if answer.get("result") == SUCCESS:
            granted = _queues((answer.get("body") or {}).get("lockOKMQSet") or ())
    yield LockBatchAnswered(
        **common,
        group=text_of(body["consumerGroup"], "consumerGroup"),
        client_id=text_of(body["clientId"], "clientId"),
        asked=_queues(body.get("mqSet") or ()),
        granted=granted,
        asked_at_ms=asked_at_ms,
    )


def _unlock(request: Record, _: Record | None, broker: str, evidence: Evidence) -> Iterator[Fact]:
    body = request["body"]
    yield UnlockBatch(
        **_common(request, broker, evidence),
        group=text_of(body["consumerGroup"], "consumerGroup"),
        client_id=text_of(body["clientId"], "clientId"),
        queues=_queues(body.get("mqSet") or ()),
    )


def _assignment(request: Record, answer: Record | None, broker: str, evidence: Evidence) -> Iterator[Fact]:
    body = request["body"]
    common = _common(request, broker, evidence)
    asked_at_ms = common["at_ms"]
    entries: Any = None
    if answer is not None:
        common["at_ms"] = instant_of(answer)
        if answer.get("result") == SUCCESS:
            entries = (answer.get("body") or {}).get("messageQueueAssignments")
    yield AssignmentAnswered(
        **common,
        group=text_of(body["consumerGroup"], "consumerGroup"),
        client_id=text_of(body["clientId"], "clientId"),
        topic=text_of(body["topic"], "topic"),
        strategy=body.get("strategyName"),
        target=None if entries is None else _queues(entry["messageQueue"] for entry in entries),
        pop=any(entry.get("mode") == _POP for entry in entries or ()),
        asked_at_ms=asked_at_ms,
    )


def _request_mode(request: Record, answer: Record | None, broker: str, evidence: Evidence) -> Iterator[Fact]:
    body = request["body"]
    if answer is not None and answer.get("result") != SUCCESS:
        return  # refused: nothing was set
    yield RequestModeSet(
        **_common(request, broker, evidence),
        group=text_of(body["consumerGroup"], "consumerGroup"),
        topic=text_of(body["topic"], "topic"),
        pop=body.get("mode") == _POP,
        pop_share_queue_num=_number(body.get("popShareQueueNum")),
    )


_Reader = Callable[[Record, Record | None, str, Evidence], Iterator[Fact]]
READERS: dict[int, _Reader] = {
    PULL_MESSAGE: _pull,
    LITE_PULL_MESSAGE: _pull,
    QUERY_CONSUMER_OFFSET: _offset_query,
    UPDATE_CONSUMER_OFFSET: _offset_commit,
    HEART_BEAT: _heartbeat,
    UNREGISTER_CLIENT: _unregister,
    GET_CONSUMER_LIST_BY_GROUP: _consumer_list,
    LOCK_BATCH_MQ: _lock,
    UNLOCK_BATCH_MQ: _unlock,
    QUERY_ASSIGNMENT: _assignment,
    SET_MESSAGE_REQUEST_MODE: _request_mode,
}
ANSWERED = frozenset(
    {QUERY_CONSUMER_OFFSET, GET_CONSUMER_LIST_BY_GROUP, LOCK_BATCH_MQ, QUERY_ASSIGNMENT, SET_MESSAGE_REQUEST_MODE}
)
"""Requests that become facts only with their answers."""
