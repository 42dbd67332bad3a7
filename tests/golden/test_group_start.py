"""Where groups without an offset began on real brokers."""

from __future__ import annotations

import gzip

import pytest

from parsers.commitlog.batches.segment import log_end
from parsers.store.store import open_store
from parsers.values.topics import is_retry
from pipelines.answers.offsets.start_rows import NewGroup, group_start_rows, start_rows
from rebalance.readers.logs import LogReader
from rebalance.readers.logs.facts.offset_lines import LineKind, offset_lines
from recovery.query.group_start import Policy, QueueNow, group_start
from recovery.rules.versions import BrokerVersion
from tests.support.cli import call
from tests.support.incidents import incident, incident_names
from tests.support.recovery_cases import golden_cases

MEMORY = 1 << 30
NAMES = [name for name in incident_names() if (incident(name).logs / "rocketmq_client.log.gz").is_file()]

CASES = golden_cases()
CLEAN = [name for name in CASES.names() if "-clean" in CASES.case(name)["base"]]
HEADLESS = [name for name in CLEAN if CASES.case(name)["damageClass"].startswith("file.missing_first")]
WITH_A_WHOLE_LOG = [name for name in CLEAN if CASES.case(name)["damageClass"] in ("none", "cq.tail_zeroed_all")]


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
    needed = group_start(now, Policy.LAST, old).memory_needed or 0
    assert group_start(now, Policy.LAST, old, needed).latest == 0
    assert group_start(now, Policy.LAST, old, needed - 1).earliest == 75
    assert group_start(now, Policy.LAST, new).memory_needed is None, "the page cache decides, however large it is"
    expired = QueueNow("T", 50, 75, None, 1 << 30)
    assert group_start(expired, Policy.LAST, new).never_delivered == 25
    assert group_start(expired, Policy.FIRST, new).earliest == 50
    assert group_start(expired, Policy.TIMESTAMP, new).earliest is None


@pytest.mark.parametrize("name", HEADLESS)
def test_a_queue_that_lost_its_first_messages_is_left_to_the_policy(name: str) -> None:
    """The file of the queue still has the unit of offset 0, but the started broker's minimum is behind it."""
    case = CASES.case(name)
    version, started = BrokerVersion.parse(case["version"]), case["truth"]["afterLoad"]["queues"]
    with CASES.built(case) as root:
        store = open_store(root)
        for queue, told in started.items():
            topic, queue_id = queue.rsplit("/", 1)
            if told["min"] > 0 and not is_retry(topic):
                by_policy = {Policy.LAST: told["max"], Policy.FIRST: told["min"]}
                for policy, begins in by_policy.items():
                    rows = list(start_rows(store, topic, NewGroup(policy, version, MEMORY), lambda damage: None))
                    row = next(row for row in rows if row["queue_id"] == int(queue_id))
                    assert (row["earliest"], row["latest"]) == (begins, begins)


@pytest.mark.parametrize("name", WITH_A_WHOLE_LOG)
def test_the_end_of_the_log_is_the_started_brokers(name: str) -> None:
    """Also where the queues end before the log does: their last units are lost."""
    case = CASES.case(name)
    with CASES.built(case) as root:
        assert log_end(open_store(root).commitlog) == case["truth"]["afterLoad"]["commitLogMax"]


def test_the_command_gives_a_row_for_each_queue() -> None:
    case = incident("4.9.7-queues-shrunk")
    topics = {row["topic"] for row in call("queues", case.root).rows}
    topic = sorted(name for name in topics if name and name[0].isupper())[0]
    rows = call("start-at", case.root, "--topic", topic, "--version", "4.9.7", "--memory", MEMORY).rows
    assert [row["queue_id"] for row in rows] == [
        row["queue_id"] for row in call("queues", case.root, "--topic", topic).rows
    ]
    assert all(row["certain"] and row["latest"] == 0 for row in rows)


def test_the_table_has_the_commands_rows_for_every_topic() -> None:
    case = incident("4.9.7-queues-shrunk")
    store = open_store(case.root)
    rows = list(group_start_rows(store, BrokerVersion.parse("4.9.7"), lambda damage: None, broker="b"))
    assert {row["policy"] for row in rows} == {"last", "first"}
    for topic in {row["topic"] for row in rows}:
        for policy in ("last", "first"):
            told = call("start-at", case.root, "--topic", topic, "--version", "4.9.7", "--from", policy).rows
            head = {"broker": "b", "policy": policy}
            assert [row for row in rows if (row["topic"], row["policy"]) == (topic, policy)] == [
                {**head, **row} for row in told
            ]
