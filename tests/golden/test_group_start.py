"""Where groups without an offset began on real brokers."""

from __future__ import annotations

import gzip

import pytest

from rebalance.readers.logs import LogReader
from rebalance.readers.logs.offset_lines import LineKind, offset_lines
from recovery.query.group_start import Policy, QueueNow, group_start
from recovery.rules.versions import BrokerVersion
from tests.support.cli import call
from tests.support.incidents import incident, incident_names

MEMORY = 1 << 30
NAMES = [name for name in incident_names() if (incident(name).logs / "rocketmq_client.log.gz").is_file()]


@pytest.mark.parametrize("name", NAMES)
def test_a_new_group_begins_where_the_rule_says(name: str) -> None:
    """The first pull of every queue by a group that had committed nothing there, while the queue began at 0."""
    case = incident(name)
    with gzip.open(case.logs / "rocketmq_client.log.gz", "rb") as log:
        lines = [line for event in LogReader().events(log) for line in offset_lines(event)]
    met: set[tuple[str | None, str | None, int | None]] = set()
    for line in lines:
        key = line.group, line.topic, line.queue_id
        if line.kind is LineKind.STARTED and key not in met:
            now = QueueNow(line.topic or "", 0, 1, 0, 1 << 20)
            told = group_start(now, Policy.LAST, BrokerVersion.parse(case.version), MEMORY)
            assert told.earliest is not None
            assert told.latest is not None
            assert told.earliest <= (line.after or 0) <= told.latest
            assert told.certain == (case.version < "5.1")
        met.add(key)
    assert met


def test_memory_and_version_decide_and_what_is_not_known_is_a_window() -> None:
    now, old, new = QueueNow("T", 0, 75, 0, 1 << 30), BrokerVersion(4, 9, 7), BrokerVersion(5, 3, 3)
    assert group_start(now, Policy.LAST, old, 16 << 30).latest == 0
    assert group_start(now, Policy.LAST, old, 1 << 30).earliest == 75
    assert (group_start(now, Policy.LAST, old).earliest, group_start(now, Policy.LAST, old).latest) == (0, 75)
    assert not group_start(now, Policy.LAST, new, 16 << 30).certain
    expired = QueueNow("T", 50, 75, None, 1 << 30)
    assert group_start(expired, Policy.LAST, new).never_delivered == 25
    assert group_start(expired, Policy.FIRST, new).earliest == 50
    assert group_start(expired, Policy.TIMESTAMP, new).earliest is None


def test_the_command_gives_a_row_for_each_queue() -> None:
    case = incident("4.9.7-queues-shrunk")
    topics = {row["topic"] for row in call("queues", case.root).rows}
    topic = sorted(name for name in topics if name and name[0].isupper())[0]
    rows = call("start-at", case.root, "--topic", topic, "--version", "4.9.7", "--memory", MEMORY).rows
    assert [row["queue_id"] for row in rows] == [
        row["queue_id"] for row in call("queues", case.root, "--topic", topic).rows
    ]
    assert all(row["certain"] and row["latest"] == 0 for row in rows)
