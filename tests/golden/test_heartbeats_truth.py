"""Heartbeats that a proxy in cluster mode puts into a broker's log, as its own classes write them (`make/messages`)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from parsers.damage.errors import Damage
from parsers.messages.heartbeat import PROXY_HEARTBEAT
from pipelines.answers.derived.group_rows import group_rows
from pipelines.answers.lag.groups_left import groups_left
from recovery.lives.group_life import PROXY_EXPIRES_MS, GroupLeft
from tests.support.build_store import STEP_MS
from tests.support.cli import call
from tests.support.heartbeats import BODIES, TOLD, proxied_store
from tests.support.opened import opened

GETTERS = {
    "heartbeat_type": "HeartbeatType",
    "group": "Group",
    "client_id": "ClientId",
    "sent_at_ms": "LastUpdateTimestamp",
    "proxy": "LocalProxyId",
    "channel": "ChannelData",
    "subscriptions": "SubscriptionDataSet",
    "consume_type": "ConsumeType",
    "message_model": "MessageModel",
    "consume_from": "ConsumeFromWhere",
    "language": "Language",
    "client_version": "Version",
}


def in_order(value: object) -> object:
    """The sets of subscriptions, which Java prints in any order."""
    return sorted(value, key=lambda each: str(each["topic"])) if isinstance(value, list) else value


def test_a_heartbeat_says_what_the_java_class_reads() -> None:
    assert set(GETTERS) == {field.name for field in PROXY_HEARTBEAT.fields}
    for body, read in zip(BODIES, TOLD, strict=True):
        (record,) = PROXY_HEARTBEAT.records(body)
        told = dict(record.values)
        subscriptions = told["subscriptions"]
        told["subscriptions"] = None if subscriptions is None else json.loads(str(subscriptions))
        java = {name: read.get(getter) for name, getter in GETTERS.items()}
        assert {name: in_order(value) for name, value in told.items()} == {
            name: in_order(value) for name, value in java.items()
        }


def left_in(root: Path) -> dict[str, GroupLeft]:
    lost: list[Damage] = []
    left = {one.group: one for one in groups_left(*opened(root, "5.3.3"), damage=lost.append)}
    assert lost == []
    return left


def rows_of(root: Path) -> dict[str, dict[str, Any]]:
    return {row["group"]: row for row in group_rows(left_in(root).values(), None)}


def test_a_consumer_that_a_proxy_heard_of_at_the_end_of_the_store_is_connected(tmp_path: Path) -> None:
    """No line of the broker's log shows it."""
    rows = rows_of(proxied_store(tmp_path / "store", *BODIES))
    assert [rows[group]["state"] for group in ("G0", "G1", "G2")] == ["connected", "connected", "unknown"]
    assert rows["G0"]["advice"] == "keep"
    assert TOLD[10]["ClientId"] in rows["G0"]["reason"]


def test_farewells_and_old_heartbeats_leave_it_open_who_is_there(tmp_path: Path) -> None:
    heard, farewell = BODIES[1], BODIES[3]  # of G1
    assert (TOLD[3]["HeartbeatType"], TOLD[3]["Group"]) == ("UNREGISTER", "G1")
    later = PROXY_EXPIRES_MS // STEP_MS
    for bodies, after in (((farewell,), 0), ((heard,), later)):
        rows = rows_of(proxied_store(tmp_path / str(after), *bodies, later=after))
        assert (rows["G1"]["state"], rows["G1"]["loses_nothing"]) == ("unknown", None)
        assert "the last consumer behind a proxy that the store has a heartbeat of was" in rows["G1"]["reason"]
        assert "heartbeat" not in rows["G0"]["reason"]


def test_the_word_that_no_consumer_comes_through_a_proxy_is_not_taken_against_a_heartbeat(tmp_path: Path) -> None:
    root = proxied_store(tmp_path / "store", BODIES[3])
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "broker.log").write_text(
        "2020-01-01 00:00:00 INFO main - The broker[b, 127.0.0.1:10911] boot success. serializeType=JSON\n"
        "2027-01-01 00:00:00 INFO Scheduled_1 - Dispatch task fall behind commit log 0bytes\n"
    )
    rows = {row["group"]: row for row in call("groups", root, "--logs", logs, "--no-proxy").rows}
    assert rows["G0"]["loses_nothing"] is True
    assert rows["G1"]["loses_nothing"] is None
    assert "you said that no consumer comes through a proxy, and one did" in rows["G1"]["reason"]


@pytest.mark.parametrize(("ordered", "told"), [(False, ["Fifo"]), (True, []), (None, None)])
def test_a_fifo_topic_that_is_read_out_of_order_is_named(
    tmp_path: Path, ordered: bool | None, told: list[str] | None
) -> None:
    """By consumeMessageOrderly of the group; of a group that the table does not have, nothing is said."""
    rows = rows_of(proxied_store(tmp_path / "store", BODIES[0], ordered=ordered))
    assert (rows["G0"]["unordered_topics"], rows["G2"]["unordered_topics"]) == (told, None)


@pytest.mark.parametrize("topics", [b"{", None])
def test_without_a_table_of_topics_nobody_knows_what_is_read_out_of_order(tmp_path: Path, topics: bytes | None) -> None:
    root = proxied_store(tmp_path / "store", BODIES[0], ordered=False)
    (place,) = (root / "config").glob("topics.json")
    place.unlink() if topics is None else place.write_bytes(topics)
    rows = {row["group"]: row for row in call("groups", root).rows}
    assert rows["G0"]["unordered_topics"] is None


def test_decode_prints_a_row_for_each_heartbeat(tmp_path: Path) -> None:
    called = call("dump", "commitlog", proxied_store(tmp_path / "store", *BODIES), "--decode")
    assert [row["kind"] for row in called.rows] == ["proxy_heartbeat"] * len(BODIES)
    assert "heartbeat_type=REGISTER group=G0 client_id=host@1@0@a sent_at_ms=" in called.rows[0]["said"]
