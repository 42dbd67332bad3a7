"""Members of a group that subscribe to unlike topics or tags, by the heartbeats that a broker's log tells."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.cli import call
from tests.support.fixtures import GOLDEN

SESSION = GOLDEN / "rebalance" / "sessions" / "f-533-subscriptions"
"""c1 subscribes to events, c2 to events and refunds, c3 to events with tag A only (README.md there)."""


def member(client: str, second: int, subscription: str, topic: str = "T") -> list[tuple[int, str]]:
    """When a member comes what a broker logs of its connection and registration, and of its going a minute later."""
    remote = f"10.0.0.{client[1:]}:4000"
    channel = (
        f"ClientChannelInfo [channel=[id: 0x5fe1ba71, L:/10.0.0.1:10911 - R:/{remote}], clientId={client}, "
        "language=JAVA, version=479, lastUpdateTimestamp=1795201921000]"
    )
    data = (
        f"SubscriptionData [classFilterMode=false, topic={topic}, subString={subscription}, tagsSet=[], codeSet=[], "
        "subVersion=1795201920000, expressionType=TAG]"
    )
    registered = (
        f"ClientManageProcessor: registerConsumer info changed, SDK address={remote}, consumerData=ConsumerData "
        "[groupName=g, consumeType=CONSUME_PASSIVELY, messageModel=CLUSTERING, consumeFromWhere="
        f"CONSUME_FROM_FIRST_OFFSET, unitMode=false, subscriptionDataSet=[{data}]]"
    )
    return [
        (second, f"new consumer connected, group: g CONSUME_PASSIVELY CLUSTERING channel: {channel}"),
        (second, registered),
        (60 + second, f"unregister a consumer[g] from consumerGroupInfo {channel}"),
    ]


def told(folder: Path, *members: list[tuple[int, str]]) -> list[tuple[str, tuple[str, ...], str]]:
    lines = sorted((line for one in members for line in one), key=lambda line: line[0])
    stamped = (f"2026-11-21 03:{12 + at // 60}:{at % 60:02d} INFO x - {text}\n" for at, text in lines)
    (folder / "broker.log").write_text("".join(stamped))
    rows = map(json.loads, call("replay", folder, "--show", "anomalies", "--quiet").out.splitlines())
    found = [row for row in rows if row["kind"] == "subscriptions_differ"]
    return [(row["topic"], tuple(row["clients"]), row["detail"]) for row in found]


def test_unlike_tags_are_told_and_another_order_of_tags_is_none(tmp_path: Path) -> None:
    same = member("c1", 1, "TagA || TagB"), member("c2", 2, "TagB||TagA")
    assert told(tmp_path, *same) == []
    third = member("c3", 3, "TagA")
    assert told(tmp_path, *same, third) == [("T", ("c1", "c2", "c3"), "TagA: c3; TagA||TagB: c1, c2")]


def test_members_without_a_topic_are_told(tmp_path: Path) -> None:
    assert told(tmp_path, member("c1", 1, "*"), member("c2", 2, "*", "U")) == [
        ("T", ("c1", "c2"), "*: c1; not subscribed: c2"),
        ("U", ("c1", "c2"), "*: c2; not subscribed: c1"),
    ]


def test_a_recorded_cluster_of_unlike_members_is_told() -> None:
    called = call("replay", SESSION, "--show", "anomalies", "--quiet")
    rows = [row for row in called.rows if row["kind"] == "subscriptions_differ"]
    first, second, third = rows[0]["clients"]
    assert [(row["group"], row["topic"], row["detail"]) for row in rows] == [
        ("cg_events", "refunds", f"*: {second}; not subscribed: {first}, {third}"),
        ("cg_events", "events", f"*: {first}, {second}; A: {third}"),
    ]
