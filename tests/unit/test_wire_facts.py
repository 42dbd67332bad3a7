"""Wire records -> facts: what each kind says, and what is missing from it."""

from __future__ import annotations

from typing import Any

import pytest

from rebalance.facts import (
    BrokerStarted,
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
from rebalance.model.message_queue import MessageQueue
from rebalance.readers.wire.facts import facts_from_wire

Q = MessageQueue("t", "b", 3)
HEADER = {"consumerGroup": "g", "topic": "t", "queueId": "3", "bname": "b"}
MQ = {"topic": "t", "brokerName": "b", "queueId": 3}


def request(code: int, at_ms: int = 10, opaque: int = 1, **told: Any) -> dict[str, Any]:
    return {"ts": at_ms, "dir": "request", "code": code, "remote": "1.2.3.4:5", "opaque": opaque, **told}


def response(code: int, at_ms: int = 12, opaque: int = 1, **told: Any) -> dict[str, Any]:
    return {"ts": at_ms, "dir": "response", "code": code, "remote": "1.2.3.4:5", "opaque": opaque, "result": 0, **told}


def facts(*records: dict[str, Any]) -> list[Fact]:
    return list(facts_from_wire(records, broker="b", file="w"))


def heartbeat(**body: Any) -> dict[str, Any]:
    consumer = {
        "groupName": "g",
        "messageModel": "CLUSTERING",
        "subscriptionDataSet": [{"topic": "t", "subVersion": 7}],
    }
    return request(34, body={"clientID": "c", "consumerDataSet": [consumer], **body}, clientVersion=479)


def test_a_heartbeat_is_one_fact_per_group() -> None:
    (fact,) = facts(heartbeat())
    assert isinstance(fact, HeartbeatReceived)
    assert (fact.at_ms, fact.group, fact.client_id, fact.remote, fact.client_version) == (
        10,
        "g",
        "c",
        "1.2.3.4:5",
        479,
    )
    assert fact.subscriptions == (TopicSubscription("t", None, None, 7),)
    assert fact.evidence == Evidence("w", 1)
    assert facts(heartbeat(consumerDataSet=[])) == []


def test_a_heartbeat_without_subscriptions_says_nothing_of_them() -> None:
    (fact,) = facts(heartbeat(withoutSub=True))
    assert isinstance(fact, HeartbeatReceived)
    assert fact.subscriptions is None


@pytest.mark.parametrize(
    ("answer", "client_ids", "remark"),
    [
        (response(38, body={"consumerIdList": ["y", "x", "x"]}), ("y", "x", "x"), None),
        (response(38, result=1, remark="no consumer for this group"), None, "no consumer for this group"),
        (None, None, None),
    ],
)
def test_a_member_list_is_dated_by_its_answer(answer: Any, client_ids: Any, remark: Any) -> None:
    asked = request(38, header={"consumerGroup": "g"})
    (fact,) = facts(asked, answer) if answer else facts(asked)
    assert isinstance(fact, ConsumerListAnswered)
    assert (fact.client_ids, fact.remark, fact.asked_at_ms) == (client_ids, remark, 10)
    assert fact.at_ms == (12 if answer else 10)


@pytest.mark.parametrize(
    ("answer", "stored"), [(response(14, header={"offset": 5}), 5), (response(14, result=22), None)]
)
def test_a_stored_offset_or_none(answer: Any, stored: int | None) -> None:
    (fact,) = facts(request(14, header=HEADER), answer)
    assert isinstance(fact, OffsetQueried)
    assert (fact.queue, fact.queue_offset, fact.at_ms, fact.answered_at_ms) == (Q, stored, 10, 12)


def test_commits_pulls_locks_unlocks_and_leaves() -> None:
    found = facts(
        request(15, header={**HEADER, "commitOffset": "9"}),
        request(11, header={**HEADER, "queueOffset": "8", "commitOffset": "7", "subVersion": "6"}),
        request(361, header={**HEADER, "queueOffset": "8"}),
        request(41, opaque=2, body={"clientId": "c", "consumerGroup": "g", "mqSet": [MQ]}),
        response(41, opaque=2, body={"lockOKMQSet": [MQ]}),
        request(42, body={"clientId": "c", "consumerGroup": "g", "mqSet": [MQ]}),
        request(35, header={"clientID": "c", "consumerGroup": "g"}),
        request(35, header={"clientID": "c", "producerGroup": "p"}),
        {"ts": 99, "dir": "lifecycle", "name": "broker_started"},
    )
    assert [type(fact) for fact in found] == [
        OffsetCommitted, PullSeen, PullSeen, LockBatchAnswered, UnlockBatch, ClientUnregistered, BrokerStarted
    ]  # fmt: skip
    assert isinstance(found[3], LockBatchAnswered)
    assert found[3].granted == (Q,)


def test_a_queue_without_a_broker_name_is_on_the_broker_that_was_asked() -> None:
    (fact,) = facts(request(15, header={"consumerGroup": "g", "topic": "t", "queueId": "3", "commitOffset": "9"}))
    assert isinstance(fact, OffsetCommitted)
    assert fact.queue == Q


ENDLESS = float("inf")  # what JSON's 1e999 is read as


@pytest.mark.parametrize(
    "record",
    [
        {},
        {"ts": 1},
        request(34, body=None),
        request(15, header={"topic": 5}),
        request(15, header={**HEADER, "commitOffset": ENDLESS}),
        request(14, header={**HEADER, "queueId": ENDLESS}),
        7,
        None,
    ],
)
def test_what_cannot_be_read_is_said(record: Any) -> None:
    (fact,) = facts(record)
    assert isinstance(fact, UnreadRecord)
    assert fact.evidence.record == 1
