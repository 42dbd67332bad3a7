"""Records of another form are named in words about the record, never in Python's."""

from __future__ import annotations

import pytest

from rebalance.facts import UnreadRecord
from rebalance.readers.polled_states import facts_from_polls
from rebalance.readers.wire.facts import facts_from_wire

REQUEST = {"ts": 1, "dir": "request", "code": 34, "remote": "10.0.0.1:1", "opaque": 1, "header": {}, "body": {}}


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
