"""What recorded consumers and brokers counted: logs of consumers, Java's and gRPC's, and pop.log."""

from __future__ import annotations

import gzip
import re
from collections import Counter
from pathlib import Path

import pytest

from pipelines.report.sections.store_log import store_log_section
from rebalance.readers.logs import LogReader
from rebalance.readers.logs.lines.reader import LogEvent
from rebalance.readers.logs.templates.beside import BESIDE_MEANINGS, BESIDE_WRONG
from tests.support.cli import call
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


PROXIED = GOLDEN / "rebalance" / "proxied"
SUMMED = re.compile(r"- \[(\w+)\] \[(.*?)\] Stats (?:In One|Every) [\w ]+, (?:SUM|Value): (\d+)")


def test_what_a_broker_counted_is_listed_line_by_line() -> None:
    """Every line of stats.log is a row, by topic, queue and group, and its sum is the line's."""
    with gzip.open(PROXIED / "stats.log.gz", "rt") as lines:
        plain = [found.groups() for line in lines if (found := SUMMED.search(line))]
    rows = call("replay", PROXIED / "stats.log.gz", "--show", "counted", "--format", "jsonl").rows
    assert [(row["statistic"], row["sum"]) for row in rows if row["sum"] is not None] == [
        (name, int(total)) for name, _, total in plain
    ]
    keys = {key for name, key, _ in plain if name == "GROUP_GET_NUMS"}
    assert {f"{row['topic']}@{row['group']}" for row in rows if row["statistic"] == "GROUP_GET_NUMS"} == keys
    behind = [row for row in rows if row["statistic"] == "GROUP_GET_FALL_SIZE" and row["group"] == "GRem"]
    assert {row["queue_id"] for row in behind if row["topic"] == "Gn"} == {0, 1, 2, 3}
    assert all(row["sum"] > 0 and row["span"] == "5 Minutes" for row in behind if row["topic"] == "Gn")
    assert {row["average"] for row in rows if row["statistic"] == "BROKER_PUT_NUMS"} == {None}


def test_a_rate_of_one_sample_and_a_comma_are_read(tmp_path: Path) -> None:
    """StatsItem#computeStatsData divides by the time between two samples, and prints in the locale of its process."""
    log = tmp_path / "stats.log"
    head = "2026-11-26 00:38:00 INFO - [TOPIC_PUT_NUMS] [T] Stats In One Minute, SUM: "
    log.write_text(f"{head}0 TPS: NaN AVGPT: 0.00\n{head}9 TPS: 0,15 AVGPT: 1,00\n")
    rows = call("replay", log, "--show", "counted", "--format", "jsonl").rows
    assert [(row["sum"], row["per_second"], row["average"]) for row in rows] == [(0, None, 0.0), (9, 0.15, 1.0)]


def test_a_watermark_is_a_row_where_something_waits() -> None:
    with gzip.open(PROXIED / "watermark.log.gz", "rt") as lines:
        waits = [line for line in lines if "Size: 0 SlowTimeMills: 0" not in line]
    rows = call("replay", PROXIED, "--show", "counted", "--format", "jsonl").rows
    found = [(row["subject"], row["sum"]) for row in rows if row["statistic"] == "WATERMARK"]
    assert found
    assert len(found) == len(waits)
    assert all(f"{pool} Queue Size: {size} " in line for (pool, size), line in zip(found, waits, strict=True))


def test_a_name_server_s_watermark_is_not_taken_for_a_damaged_line() -> None:
    line = (
        b"2026-11-26 00:43:08 INFO NSScheduledThread - [WATERMARK] ClientQueueSize:0 ClientQueueSlowTime:0 "
        b"DefaultQueueSize:0 DefaultQueueSlowTime:0"
    )
    reader = LogReader()
    assert [event.template.name for event in reader.events([line])] == ["name_server_watermark"]
    assert reader.summary.unreadable == 0


def test_transactions_that_nobody_could_be_asked_about_are_told_with_their_group() -> None:
    rows = call("replay", PROXIED, "--show", "store", "--format", "jsonl").rows
    told = {row["says"]: row for row in rows}
    for name, log, text in [
        ("transaction_nobody_to_ask", "transaction", "Check transaction failed, channel is null."),
        ("transaction_nobody_at_proxy", "proxy", "check transaction failed, channel is empty."),
        ("transaction_given_up", "transaction", "Put checked-too-many-time half message to"),
        ("transaction_committed_late", "transaction", "the producer commit the message."),
    ]:
        with gzip.open(PROXIED / f"{log}.log.gz", "rt") as lines:
            assert told[name]["lines"] == sum(text in line for line in lines) > 0
    assert {told[name]["group"] for name in ("transaction_nobody_to_ask", "transaction_nobody_at_proxy")} == {"Gt"}
    assert told["transaction_given_up"]["topic"] == "Gt"


def test_the_report_takes_a_transaction_as_wrong_by_what_became_of_it_not_by_the_level_of_its_line() -> None:
    rows = call("replay", PROXIED, "--show", "store", "--format", "jsonl").rows
    told = {row["says"]: row for row in rows}
    late, given_up = told["transaction_committed_late"], told["transaction_given_up"]
    assert (late["level"], given_up["level"]) == ("WARN", "INFO")
    assert store_log_section([late]).state == "good"
    section = store_log_section([late, given_up])
    assert section.state == "finding"
    assert section.verdict.endswith(f"of something wrong: {given_up['lines']}.")
    assert BESIDE_MEANINGS.keys() > BESIDE_WRONG
