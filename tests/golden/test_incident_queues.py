"""Queues that a lowered readQueueNums hides: the incidents' own answers are the judge."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from recovery.query.refusals import GROUP_OFF, TOPIC_OFF
from recovery.verify.verify import verify
from tests.support.cli import rows_of
from tests.support.copies import copy_tree
from tests.support.incidents import Incident, incident, incident_names
from tests.support.opened import opened

NAMES = incident_names("queues-shrunk")


def hidden(case: Incident) -> dict[tuple[str, str, int], dict[str, Any]]:
    """(group, topic, queue) -> what the steps say of a hidden queue."""
    topics = case.told()["answers"]["topics"].items()
    return {
        (told["group"], topic, int(queue)): facts
        for topic, told in topics
        for queue, facts in told["hiddenQueues"].items()
    }


@pytest.mark.parametrize("name", NAMES)
def test_unread_messages_of_hidden_queues_are_found_and_nothing_else(name: str) -> None:
    case = incident(name)
    told, lowered = case.told()["answers"]["topics"], case.told()["facts"]["topics"]
    found = {finding.span.topic: finding for finding in verify(*opened(case.root, case.version)).findings}
    assert {finding.kind for finding in found.values()} == {"queue_beyond_read_queues"}
    assert {topic: finding.count for topic, finding in found.items()} == {
        topic: facts["hiddenUnread"] for topic, facts in told.items() if facts["hiddenUnread"]
    }
    written = {topic for topic, finding in found.items() if "producers go on to write there" in finding.evidence[0]}
    assert written == {topic for topic in found if lowered[topic or ""] == "readQueueNums reduced"}


@pytest.mark.parametrize("name", NAMES)
def test_lag_has_hidden_queues_with_their_reason(name: str) -> None:
    case = incident(name)
    rows = {
        (row["group"], row["topic"], row["queue_id"]): row
        for row in rows_of("lag", case.root)
        if "readQueueNums" in (row["reason"] or "")
    }
    assert {key: row["messages_behind"] for key, row in rows.items()} == {
        key: facts["unread"] for key, facts in hidden(case).items()
    }
    assert all(row["seconds_behind"] > 0 for row in rows.values())


@pytest.mark.parametrize("name", NAMES)
def test_retention_has_them_too(name: str) -> None:
    case = incident(name)
    (document,) = rows_of("retention", case.root, "--version", case.version)
    unread = (row for row in document["unread_at_risk"] if row["unread_messages"])
    risks = {(row["group"], row["topic"], row["queue_id"]): row for row in unread}
    assert {key: row["unread_messages"] for key, row in risks.items()} == {
        key: facts["unread"] for key, facts in hidden(case).items()
    }
    assert all("readQueueNums" in row["reason"] for row in risks.values())


def test_lag_and_backlog_tell_what_is_switched_off(tmp_path: Path) -> None:
    """A group whose consumeEnable is false gets nothing, nor does anybody of a topic without read."""
    root = tmp_path / "store"
    copy_tree(incident(NAMES[0]).root, root)
    before = {(row["group"], row["topic"]) for row in rows_of("lag", root) if row["messages_behind"]}
    (group, topic), *_ = sorted(before)
    for name, table, entry, change in (
        ("subscriptionGroup.json", "subscriptionGroupTable", group, {"consumeEnable": False}),
        ("topics.json", "topicConfigTable", topic, {"perm": 2}),
    ):
        file = root / "config" / name
        document = json.loads(file.read_text("utf-8"))
        document[table][entry] |= change
        file.write_text(json.dumps(document), "utf-8")
    for command in ("lag", "backlog"):
        rows = [row for row in rows_of(command, root) if row.get("messages_behind") or row.get("unread")]
        told = [(row["group"], row["topic"], row["reason"] or "") for row in rows]
        assert {GROUP_OFF in reason for of, _, reason in told if of == group} == {True}
        assert {TOPIC_OFF in reason for _, of, reason in told if of == topic} == {True}
        assert not any(GROUP_OFF in reason for of, _, reason in told if of != group)
        assert not any(TOPIC_OFF in reason for _, of, reason in told if of != topic)
