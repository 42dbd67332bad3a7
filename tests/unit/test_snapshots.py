"""Polls and configuration histories as facts."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from rebalance.facts import (
    ConnectionsSeen,
    GroupConfigSeen,
    GroupSettings,
    ListedMember,
    QueueTableSeen,
    RouteSeen,
    TopicQueues,
    UnreadRecord,
)
from rebalance.model.message_queue import MessageQueue
from rebalance.readers.polled_states import facts_from_groups, facts_from_polls, facts_from_topics


def poll(**fields: Any) -> Any:
    (fact,) = facts_from_polls([{"ts": 9_000, "group": "g", **fields}], source="b", file="f")
    return fact


def test_members_of_a_group() -> None:
    rows = [
        {"clientId": "c2", "clientAddr": "10.0.0.2:5", "version": 479, "language": "JAVA"},
        {"clientId": "c1", "clientAddr": "10.0.0.1:5"},
    ]
    fact = poll(kind="consumerConnection", body={"connectionSet": rows, "subscriptionTable": {"T": {}, "S": {}}})
    assert isinstance(fact, ConnectionsSeen)
    assert fact.connections == (ListedMember("c1", "10.0.0.1:5", None), ListedMember("c2", "10.0.0.2:5", 479))
    assert fact.topics == ("S", "T")
    assert (fact.at_ms, fact.early_ms, fact.late_ms, fact.source) == (9_000, 5_000, 0, "b")


def test_a_group_that_is_not_online_has_no_members() -> None:
    fact = poll(kind="consumerConnection", error="MQBrokerException: CODE: 206  DESC: the consumer group[g] not online")
    assert isinstance(fact, ConnectionsSeen)
    assert fact.connections == ()


def test_an_instant_beyond_all_numbers_is_an_unread_record() -> None:
    fact = poll(kind="consumerConnection", ts=float("inf"))
    assert isinstance(fact, UnreadRecord)


def test_a_failed_poll_is_an_unread_record() -> None:
    fact = poll(kind="consumerRunningInfo", error="RemotingTimeoutException: wait response")
    assert isinstance(fact, UnreadRecord)
    assert fact.reason == "the poll failed: RemotingTimeoutException: wait response"


def test_the_queue_table_of_a_client() -> None:
    rows = [["T", "b", 1, "ProcessQueueInfo [droped=true, x=1]"], ["T", "b", 0, "ProcessQueueInfo [droped=false]"]]
    fact = poll(kind="consumerRunningInfo", clientId="c", mqTable=rows)
    assert isinstance(fact, QueueTableSeen)
    assert fact.queues == (MessageQueue("T", "b", 0), MessageQueue("T", "b", 1))
    assert (fact.source, fact.client_id) == ("c", "c")
    assert fact.dropped == (MessageQueue("T", "b", 1),)


def test_a_polled_route_names_its_broker() -> None:
    rows = [{"brokerName": "b", "readQueueNums": 8, "perm": 6}, {"brokerName": "a", "readQueueNums": 8, "perm": 2}]
    fact = poll(kind="topicRoute", topic="T", broker="n", body={"queueDatas": rows})
    assert isinstance(fact, RouteSeen)
    assert (fact.source, fact.complete) == ("n", True)
    assert fact.queues == (TopicQueues("T", "a", 0), TopicQueues("T", "b", 8))


def topics(**queues: int) -> dict[str, Any]:
    return {"topicConfigTable": {name: {"readQueueNums": count, "perm": 6} for name, count in queues.items()}}


def test_a_history_tells_changes_since_the_snapshot_before() -> None:
    snapshots = [(1_000, topics(T=4, U=1)), (2_000, topics(T=4, U=1)), (5_000, topics(T=8))]
    facts = list(facts_from_topics(snapshots, source="b", file="f"))
    told = [(f.at_ms, f.early_ms, f.evidence.record, f.queues) for f in facts if isinstance(f, RouteSeen)]
    assert told == [
        (1_000, 0, 1, (TopicQueues("T", "b", 4),)),
        (1_000, 0, 1, (TopicQueues("U", "b", 1),)),
        (5_000, 3_000, 3, (TopicQueues("T", "b", 8),)),
        (5_000, 3_000, 3, (TopicQueues("U", "b", 0),)),
    ]


def test_group_settings() -> None:
    row = {"consumeEnable": True, "notifyConsumerIdsChangedEnable": False, "retryQueueNums": 2}
    tables: list[dict[str, Any]] = [{"g": row}, {}]
    snapshots = [(number, {"subscriptionGroupTable": table}) for number, table in enumerate(tables)]
    facts = [fact for fact in facts_from_groups(snapshots, source="b") if isinstance(fact, GroupConfigSeen)]
    assert [(fact.group, fact.settings) for fact in facts] == [("g", GroupSettings(True, True, False, 2)), ("g", None)]


def test_a_broken_snapshot_is_passed_over_with_its_reason() -> None:
    facts = list(facts_from_topics([(1, topics(T=1)), (2, {"topicConfigTable": 3}), (3, topics(T=1))], source="b"))
    assert [type(fact) for fact in facts] == [RouteSeen, UnreadRecord]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=8,
)
KINDS = ["consumerConnection", "consumerRunningInfo", "topicRoute", "other"]


@given(
    st.sampled_from(KINDS), st.dictionaries(st.sampled_from(["ts", "group", "body", "mqTable", "topic"]), json_values)
)
def test_any_record_gives_facts(kind: str, fields: dict[str, Any]) -> None:
    assert len(list(facts_from_polls([{"kind": kind, **fields}], source="b"))) <= 1
    tables = {"topicConfigTable": fields, "subscriptionGroupTable": fields}
    assert len(list(facts_from_topics([(1, tables)], source="b"))) <= max(1, len(fields))
    assert len(list(facts_from_groups([(1, tables)], source="b"))) <= max(1, len(fields))
