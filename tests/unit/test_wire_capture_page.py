"""The page on wire captures names what the code reads and writes, and its example is one."""

from __future__ import annotations

import json
import re

from rebalance.facts import ConsumerListAnswered
from rebalance.readers.wire.facts import facts_from_wire
from rebalance.readers.wire.recorder import REQUEST_NAMES, WireRecorder
from rebalance.readers.wire.remoting import RemotingCommand
from tests.support.fixtures import CHECKOUT

PAGE = (CHECKOUT / "docs" / "wire-capture.md").read_text(encoding="utf-8")


def test_every_request_is_documented() -> None:
    rows = re.findall(r"^\| (\d+) \| `(\w+)` \|", PAGE, re.MULTILINE)
    assert {int(code): name for code, name in rows} == REQUEST_NAMES


def test_every_field_of_a_record_is_documented() -> None:
    recorder = WireRecorder()
    asked = recorder.record(1, "a:1", True, RemotingCommand(38, "JAVA", 479, 7, 0, None, {}, b""))
    answered = recorder.record(2, "a:1", False, RemotingCommand(0, "JAVA", 479, 7, 1, None, {}, b""))
    documented = set(re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE))
    assert {*(asked or {}), *(answered or {})} == documented


def test_the_example_is_a_capture() -> None:
    example = PAGE.partition("```json\n")[2].partition("```")[0]
    (fact,) = facts_from_wire(map(json.loads, example.splitlines()), broker="b")
    assert isinstance(fact, ConsumerListAnswered)
    assert fact.client_ids == ("127.0.0.11@24731#7433203194301",)
