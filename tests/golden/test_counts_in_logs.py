"""What recorded consumers and brokers counted: logs of consumers, Java's and gRPC's, and pop.log."""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path

import pytest

from rebalance.readers.logs import LogReader
from rebalance.readers.logs.lines.reader import LogEvent
from tests.support.fixtures import GOLDEN

CALLS, GIVEN_BACK, THROWN = 214, 10, 4


SESSIONS = GOLDEN / "rebalance" / "sessions"
COUNTING = sorted([*SESSIONS.glob("*/logs/c?/*.log.gz"), *SESSIONS.rglob("pop.log.gz")])


def events(path: Path = GOLDEN / "rebalance" / "grpc" / "rocketmq-client.log.gz") -> list[LogEvent]:
    with gzip.open(path) as lines:
        return list(LogReader().events(lines))


def test_no_line_of_a_consumer_is_taken_for_a_damaged_one() -> None:
    named = Counter(event.template.name for event in events())
    assert "unreadable" not in named
    assert [named[f"grpc_simple_consumer_{step}"] for step in ("starting", "started", "stopping", "stopped")] == [1] * 4
    assert named["grpc_consumer_started"] == 2
    assert named["grpc_listener_failed"] == THROWN


def test_the_counts_are_those_of_the_listener() -> None:
    counted = [event.named_fields for event in events() if event.template.name == "grpc_group_counted"]
    own = [(each["received"], each["consumed"], each["failed"]) for each in counted if each["group"] == "GPush"]
    assert own[-1] == (str(CALLS), str(CALLS - GIVEN_BACK - THROWN), str(GIVEN_BACK + THROWN))


@pytest.mark.parametrize("path", COUNTING, ids=lambda path: "-".join(path.relative_to(SESSIONS).parts))
def test_every_line_of_counts_and_of_revives_is_recognised(path: Path) -> None:
    named = Counter(event.template.name for event in events(path))
    plain = Counter({"consume_ok_tps": 0, "consume_rt": 0, "revive": 0})
    with gzip.open(path) as lines:
        for line in lines:
            text = line.partition(b" - ")[2]
            plain["consume_ok_tps"] += text.startswith(b"[CONSUME_OK_TPS] ")
            plain["consume_rt"] += text.startswith(b"[CONSUME_RT] ")
            plain["revive"] += text.startswith(b"reviveQueueId=")
    assert [named["consume_ok_tps"], named["consume_rt"]] == [plain["consume_ok_tps"], plain["consume_rt"]]
    assert sum(count for name, count in named.items() if name.startswith("pop_revive")) == plain["revive"]
