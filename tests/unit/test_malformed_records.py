"""Records of another form are named in words about the record, never in Python's."""

from __future__ import annotations

import pytest

from rebalance.facts import UnreadRecord
from rebalance.readers.polled_states import facts_from_polls
from rebalance.readers.wire.facts import facts_from_wire
from rebalance.replay import replay

REQUEST = {"ts": 1, "dir": "request", "code": 34, "remote": "10.0.0.1:1", "opaque": 1, "header": {}, "body": {}}
HEARTBEAT = {"clientID": "c", "consumerDataSet": [{"groupName": "g", "subscriptionDataSet": []}]}


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ({}, "the field dir is missing"),
        ({"dir": "request"}, "the field code is missing"),
        ({**REQUEST, "body": 5}, "a field has another form than RocketMQ gives it"),
        ({**REQUEST, "ts": "now"}, "ts is 'now', expected epoch milliseconds"),
        ({"dir": "lifecycle", "name": "connection_closed", "remote": 5}, "remote is 5, expected a string"),
    ],
)
def test_a_wire_record_says_what_is_wrong_with_it(record: dict[str, object], reason: str) -> None:
    (fact,) = facts_from_wire([record], broker="b")
    assert isinstance(fact, UnreadRecord)
    assert fact.reason == reason


def test_a_poll_says_what_is_wrong_with_it() -> None:
    (fact,) = facts_from_polls([{"ts": 1, "kind": "consumerConnection", "group": "g", "body": 1e999}], source="b")
    assert isinstance(fact, UnreadRecord)
    assert "Error" not in fact.reason


def test_a_record_that_was_not_read_tells_nothing_of_when_the_record_begins() -> None:
    lifecycle = {"dir": "lifecycle", "name": "broker_started", "ts": 1_700_000_000_000}
    heartbeat = {**REQUEST, "ts": 1_700_000_005_000, "body": HEARTBEAT}
    history = replay(facts_from_wire([{"dir": "request"}, lifecycle, heartbeat], broker="b"))
    assert history.told == (1_700_000_000_000, 1_700_000_005_000)
    assert [note.kind for note in history.notes if note.group is None] == ["unread_records"]
