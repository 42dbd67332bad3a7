"""Lives of topics by the broker's logs: when each began and ended, and what a store without topics.json leaves open."""

from __future__ import annotations

import gzip
import json
from datetime import datetime
from pathlib import Path

import pytest

from pipelines.answers.derived.store_rows import finding_rows, topic_life_rows
from pipelines.lake.configuration.sources import BrokerSource
from tests.golden.test_incident_lives import NAMES, topics_of
from tests.support.cli import call
from tests.support.copies import copy_tree
from tests.support.incidents import Incident, incident, incident_names


@pytest.mark.parametrize("name", NAMES)
def test_logs_tell_when_each_life_began_and_ended(name: str) -> None:
    case = incident(name)
    rows = call("topics", case.root, "--logs", case.logs, "--quiet").rows
    for topic, told in topics_of(case).items():
        found = [row for row in rows if row["topic"] == topic]
        for row, life in zip(found, told["lives"], strict=True):
            assert row["certain"]
            for logged, true_ms in ((row["created"], life["createdAt"]), (row["deleted"], life["deletedAt"])):
                assert (logged is None) == (true_ms is None)
                assert logged is None or -1_000 < true_ms - epoch_ms(logged) < 3_000  # the line comes before the answer


def epoch_ms(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp() * 1000)


@pytest.mark.parametrize("name", NAMES)
def test_logs_decide_what_a_store_without_topics_json_leaves_open(name: str, tmp_path: Path) -> None:
    case = incident(name)
    root = without_topics(case, tmp_path / "store")
    alone, told = (call("topics", root, *logs, "--quiet").rows for logs in ([], ["--logs", case.logs]))
    for topic, answer in topics_of(case).items():
        assert not all(row["certain"] for row in alone if row["topic"] == topic)
        found = [row for row in told if row["topic"] == topic]
        assert all(row["certain"] for row in found)
        assert [row["state"] in ("alive", "recreated") for row in found] == [life["live"] for life in answer["lives"]]
    kinds = [
        {row["kind"] for row in call("verify", root, *logs, "--quiet").rows if row["kind"] == "queue_missing"}
        for logs in ([], ["--logs", case.logs])
    ]
    assert kinds == ([{"queue_missing"}, set()] if name.endswith("topic-deleted") else [set(), set()])
    made = call("rebuild", root, "--to", tmp_path / "new", "--logs", case.logs, "--quiet")
    assert json.loads(made.out)["undecided"] == []


def without_topics(case: Incident, root: Path) -> Path:
    """A copy of the store whose topics.json is lost."""
    copy_tree(case.root, root)
    for file in (root / "config").glob("topics.json*"):
        file.unlink()
    return root


@pytest.mark.parametrize("name", incident_names("topic-deleted"))
def test_the_report_takes_the_lives_of_topics_from_logs_too(name: str, tmp_path: Path) -> None:
    case, page = incident(name), tmp_path / "report.html"
    root = without_topics(case, tmp_path / "store")
    missing = []
    for logs in ([], ["--logs", case.logs]):
        call("report", root, "--out", page, "--quiet", *logs)
        missing.append("queue_missing" in page.read_text())
    assert missing == [True, False]


@pytest.mark.parametrize("name", incident_names("topic-deleted"))
def test_the_lake_takes_the_lives_of_topics_from_logs_too(name: str, tmp_path: Path) -> None:
    case = incident(name)
    root = without_topics(case, tmp_path / "store")
    alone, told = (BrokerSource("b", root, version=case.version, logs=logs) for logs in (None, case.logs))
    assert "queue_missing" in {row["kind"] for row in finding_rows(alone)}
    assert "queue_missing" not in {row["kind"] for row in finding_rows(told)}
    assert not all(row["is_certain"] for row in topic_life_rows(alone))
    assert all(row["is_certain"] for row in topic_life_rows(told) if row["topic"] in topics_of(case))


@pytest.mark.parametrize("name", incident_names("topic-deleted"))
def test_a_topic_created_again_without_a_message_has_lost_no_queue(name: str, tmp_path: Path) -> None:
    case = incident(name)
    copy_tree(case.root, root := tmp_path / "store")
    config = json.loads((root / "config" / "topics.json").read_text())
    table = config["topicConfigTable"]
    table["Invoices"] = {**table["Payments"], "topicName": "Invoices"}
    (root / "config" / "topics.json").write_text(json.dumps(config))
    lines = gzip.decompress((case.logs / "broker.log.gz").read_bytes())
    created = next(line for line in lines.splitlines() if b"create new topic [TopicConfig [topicName=Invoices" in line)
    (tmp_path / "broker.log").write_bytes(lines.rstrip(b"\n") + b"\n2026-11-22 17:30:00" + created[19:] + b"\n")
    missing, found = (
        [row for row in call("verify", root, *logs, "--quiet").rows if row["kind"] == "queue_missing"]
        for logs in ([], ["--logs", tmp_path / "broker.log"])
    )
    assert missing
    assert not found
    rows = call("topics", root, "--topic", "Invoices", "--logs", tmp_path / "broker.log", "--quiet").rows
    assert [(row["state"], row["messages"], row["certain"]) for row in rows] == [
        ("deleted", 240, True),
        ("recreated", 0, True),
    ]


def test_logs_of_two_other_brokers_decide_nothing(tmp_path: Path) -> None:
    case = incident("4.9.7-topic-recreated")
    for name in ("broker-b", "broker-c"):
        line = f"2026-11-22 16:00:00 INFO main - The broker[{name}, 127.0.0.1:10911] boot success. x\n"
        (tmp_path / name).mkdir()
        (tmp_path / name / "broker.log").write_text(line)
    told = call("topics", case.root, "--logs", tmp_path)
    assert "logs of several brokers (broker-b, broker-c)" in told.err
    assert {row["deleted"] for row in told.rows} == {None}
