"""Wire records (requests to one broker and their answers) -> facts.

A record is a mapping with `ts` (epoch ms), `dir` (request, response, lifecycle), `code`, `remote` (`ip:port`), `opaque`
and `header`, `body`, `result`, `remark`, `clientVersion` as RemotingCommand carries them. A request and its answer meet
by (remote, opaque). A `connection_closed` ends the memberships of its `remote`.
Source of codes and bodies: RequestCode, ClientManageProcessor, ConsumerManageProcessor, AdminBrokerProcessor @5.3.3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from rebalance.events import (
    BrokerStarted,
    BrokerStopping,
    ChannelClosed,
    ClientUnregistered,
    ConsumerListAnswered,
    Evidence,
    Fact,
    HeartbeatReceived,
    LockBatchAnswered,
    OffsetCommitted,
    OffsetQueried,
    PullSeen,
    TopicSubscription,
    UnlockBatch,
    UnreadRecord,
)
from rebalance.model import MessageQueue

QUERY_CONSUMER_OFFSET = 14
UPDATE_CONSUMER_OFFSET = 15
PULL_MESSAGE = 11
HEART_BEAT = 34
UNREGISTER_CLIENT = 35
GET_CONSUMER_LIST_BY_GROUP = 38
LOCK_BATCH_MQ = 41
UNLOCK_BATCH_MQ = 42
LITE_PULL_MESSAGE = 361
SUCCESS = 0

Record = Mapping[str, Any]
Members = dict[str, dict[str, str | None]]
"""Connection (`ip:port`) -> the groups it is registered for, each with its client id."""
_ANSWERED = frozenset({QUERY_CONSUMER_OFFSET, GET_CONSUMER_LIST_BY_GROUP, LOCK_BATCH_MQ})
_MALFORMED = (KeyError, TypeError, ValueError, AttributeError, OverflowError)  # the last: 1e999 as a whole number
_MAX_OPEN_REQUESTS = 100_000  # a capture without answers must not grow without bound


def facts_from_wire(records: Iterable[Record], *, broker: str, file: str = "") -> Iterator[Fact]:
    """Facts of one broker's capture, in the order the records complete.

    Requests that wait for an answer become facts when it comes, or at the end of the capture without one.
    A record that cannot be read becomes an `UnreadRecord` with its reason; nothing raises.
    """
    open_requests: dict[tuple[str, int], tuple[Record, Evidence]] = {}
    members: Members = {}
    for number, record in enumerate(records, start=1):
        evidence = Evidence(file, number)
        try:
            for fact in _facts_of_record(record, broker, evidence, open_requests, members):
                _follow(fact, members)
                yield fact
        except _MALFORMED as bad:
            yield UnreadRecord(
                at_ms=_instant(record), source=broker, evidence=evidence, reason=f"{type(bad).__name__}: {bad}"
            )
        if len(open_requests) > _MAX_OPEN_REQUESTS:
            oldest = next(iter(open_requests))
            yield from _settle(*open_requests.pop(oldest), None, broker)
    for request, evidence in open_requests.values():
        yield from _settle(request, evidence, None, broker)


def _instant(record: object) -> int:
    instant = record.get("ts") if isinstance(record, Mapping) else None
    return instant if isinstance(instant, int) else 0


def _facts_of_record(
    record: Record,
    broker: str,
    evidence: Evidence,
    open_requests: dict[tuple[str, int], tuple[Record, Evidence]],
    members: Members,
) -> Iterator[Fact]:
    direction = record["dir"]
    if direction == "lifecycle":
        yield from _lifecycle(record, broker, evidence, members)
    elif direction == "request":
        code = record["code"]
        if code in _ANSWERED:
            open_requests[record["remote"], record["opaque"]] = (record, evidence)
        elif code in _READERS:
            yield from _READERS[code](record, None, broker, evidence)
    elif direction == "response" and record["code"] in _ANSWERED:
        asked = open_requests.pop((record["remote"], record["opaque"]), None)
        if asked is not None:
            yield from _settle(*asked, record, broker)


def _settle(request: Record, evidence: Evidence, answer: Record | None, broker: str) -> Iterator[Fact]:
    """The facts of a request whose answer is known, or known to be missing."""
    try:
        yield from _READERS[request["code"]](request, answer, broker, evidence)
    except _MALFORMED as bad:
        yield UnreadRecord(
            at_ms=_instant(request), source=broker, evidence=evidence, reason=f"{type(bad).__name__}: {bad}"
        )


def _follow(fact: Fact, members: Members) -> None:
    """Keep in `members` which groups each connection is registered for."""
    if isinstance(fact, HeartbeatReceived) and fact.remote is not None:
        members.setdefault(fact.remote, {})[fact.group] = fact.client_id
    elif isinstance(fact, ClientUnregistered) and fact.remote in members:
        members[fact.remote].pop(fact.group, None)


def _lifecycle(record: Record, broker: str, evidence: Evidence, members: Members) -> Iterator[Fact]:
    if record["name"] == "broker_started":
        yield BrokerStarted(at_ms=_ms(record), source=broker, evidence=evidence)
    elif record["name"] == "broker_stopping":
        yield BrokerStopping(at_ms=_ms(record), source=broker, evidence=evidence)
    elif record["name"] == "connection_closed":
        remote, at_ms = _text(record["remote"], "remote"), _ms(record)
        for group, client_id in sorted(members.pop(remote, {}).items()):
            yield ChannelClosed(
                at_ms=at_ms, source=broker, evidence=evidence, group=group, remote=remote, client_id=client_id
            )


def _ms(record: Record) -> int:
    instant = record["ts"]
    if not isinstance(instant, int):
        raise TypeError(f"ts is {instant!r}, expected epoch milliseconds")
    return instant


def _common(request: Record, broker: str, evidence: Evidence) -> dict[str, Any]:
    remote = request["remote"]
    if not isinstance(remote, str):
        raise TypeError(f"remote is {remote!r}, expected ip:port")
    opaque = request.get("opaque")
    return {
        "at_ms": _ms(request),
        "source": broker,
        "evidence": evidence,
        "remote": remote,
        "request_no": opaque if isinstance(opaque, int) else None,
    }


def _text(value: object, name: str) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name} is {value!r}, expected a string")
    return value


def _number(value: object) -> int | None:
    """Header fields are strings on the wire; None stays None."""
    return None if value is None else int(value)  # type: ignore[call-overload]


def _heartbeat(request: Record, _: Record | None, broker: str, evidence: Evidence) -> Iterator[Fact]:
    body = request["body"]
    common = _common(request, broker, evidence)
    without_subscriptions = bool(body.get("withoutSub"))
    for consumer in body.get("consumerDataSet") or ():
        yield HeartbeatReceived(
            **common,
            group=_text(consumer["groupName"], "groupName"),
            client_id=_text(body["clientID"], "clientID"),
            message_model=consumer.get("messageModel"),
            consume_type=consumer.get("consumeType"),
            consume_from_where=consumer.get("consumeFromWhere"),
            client_version=_number(request.get("clientVersion")),
            subscriptions=None if without_subscriptions else _subscriptions(consumer),
        )


def _subscriptions(consumer: Record) -> tuple[TopicSubscription, ...]:
    read = (
        TopicSubscription(
            _text(entry["topic"], "topic"),
            entry.get("subString"),
            entry.get("expressionType"),
            _number(entry.get("subVersion")),
        )
        for entry in consumer.get("subscriptionDataSet") or ()
    )
    return tuple(sorted(read, key=lambda entry: entry.topic))


def _unregister(request: Record, _: Record | None, broker: str, evidence: Evidence) -> Iterator[Fact]:
    header = request["header"]
    if header.get("consumerGroup"):
        yield ClientUnregistered(
            **_common(request, broker, evidence),
            group=_text(header["consumerGroup"], "consumerGroup"),
            client_id=header["clientID"],
        )


def _consumer_list(request: Record, answer: Record | None, broker: str, evidence: Evidence) -> Iterator[Fact]:
    common = _common(request, broker, evidence)
    asked_at_ms = common["at_ms"]
    ids: tuple[str, ...] | None = None
    if answer is not None:
        common["at_ms"] = _ms(answer)
        if answer.get("result") == SUCCESS:
            ids = tuple(_text(one, "consumerIdList") for one in answer["body"]["consumerIdList"])
    yield ConsumerListAnswered(
        **common,
        group=_text(request["header"]["consumerGroup"], "consumerGroup"),
        asked_at_ms=asked_at_ms,
        client_ids=ids,
        remark=answer.get("remark") if answer is not None else None,
    )


def _queue(header: Record, broker: str) -> MessageQueue:
    # bname is absent <= 4.9.4: the queue is then on the broker that was asked
    return MessageQueue(_text(header["topic"], "topic"), header.get("bname") or broker, int(header["queueId"]))


def _offset_query(request: Record, answer: Record | None, broker: str, evidence: Evidence) -> Iterator[Fact]:
    header = request["header"]
    answered = answer is not None and answer.get("result") == SUCCESS
    yield OffsetQueried(
        **_common(request, broker, evidence),
        group=_text(header["consumerGroup"], "consumerGroup"),
        queue=_queue(header, broker),
        queue_offset=_number((answer or {})["header"]["offset"]) if answered else None,
        result=answer.get("result") if answer is not None else None,
        answered_at_ms=_ms(answer) if answer is not None else None,
    )


def _offset_commit(request: Record, _: Record | None, broker: str, evidence: Evidence) -> Iterator[Fact]:
    header = request["header"]
    yield OffsetCommitted(
        **_common(request, broker, evidence),
        group=_text(header["consumerGroup"], "consumerGroup"),
        queue=_queue(header, broker),
        queue_offset=int(header["commitOffset"]),
    )


def _pull(request: Record, _: Record | None, broker: str, evidence: Evidence) -> Iterator[Fact]:
    header = request["header"]
    yield PullSeen(
        **_common(request, broker, evidence),
        group=_text(header["consumerGroup"], "consumerGroup"),
        queue=_queue(header, broker),
        queue_offset=_number(header.get("queueOffset")),
        commit_offset=_number(header.get("commitOffset")),
        sub_version=_number(header.get("subVersion")),
    )


def _queues(entries: Iterable[Record]) -> tuple[MessageQueue, ...]:
    read = (
        MessageQueue(_text(e["topic"], "topic"), _text(e["brokerName"], "brokerName"), int(e["queueId"]))
        for e in entries
    )
    return tuple(sorted(read, key=lambda queue: queue.order))


def _lock(request: Record, answer: Record | None, broker: str, evidence: Evidence) -> Iterator[Fact]:
    body = request["body"]
    common = _common(request, broker, evidence)
    asked_at_ms = common["at_ms"]
    granted: tuple[MessageQueue, ...] | None = None
    if answer is not None:
        common["at_ms"] = _ms(answer)
        if answer.get("result") == SUCCESS:
            granted = _queues((answer.get("body") or {}).get("lockOKMQSet") or ())
    yield LockBatchAnswered(
        **common,
        group=_text(body["consumerGroup"], "consumerGroup"),
        client_id=_text(body["clientId"], "clientId"),
        asked=_queues(body.get("mqSet") or ()),
        granted=granted,
        asked_at_ms=asked_at_ms,
    )


def _unlock(request: Record, _: Record | None, broker: str, evidence: Evidence) -> Iterator[Fact]:
    body = request["body"]
    yield UnlockBatch(
        **_common(request, broker, evidence),
        group=_text(body["consumerGroup"], "consumerGroup"),
        client_id=_text(body["clientId"], "clientId"),
        queues=_queues(body.get("mqSet") or ()),
    )


_Reader = Callable[[Record, Record | None, str, Evidence], Iterator[Fact]]
_READERS: dict[int, _Reader] = {
    PULL_MESSAGE: _pull,
    LITE_PULL_MESSAGE: _pull,
    QUERY_CONSUMER_OFFSET: _offset_query,
    UPDATE_CONSUMER_OFFSET: _offset_commit,
    HEART_BEAT: _heartbeat,
    UNREGISTER_CLIENT: _unregister,
    GET_CONSUMER_LIST_BY_GROUP: _consumer_list,
    LOCK_BATCH_MQ: _lock,
    UNLOCK_BATCH_MQ: _unlock,
}
