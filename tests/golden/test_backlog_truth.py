"""`backlog`: unread messages that match a subscription, judged by the messages and units that Java's classes read.

Tags are compared as the client compares them, and the filter of a group as a line of Python: neither hash nor parser.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from parsers.commitlog.batches.read import read_commitlog
from pipelines.answers.backlog import filters
from tests.golden.test_ledger_truth import unit_places
from tests.support.cli import call, rows_of
from tests.support.copies import copy_tree
from tests.support.stores import store_root, truth_lines

Properties = Mapping[str, str]
Matches = Callable[[Properties], bool]
CLEAN = ("5.3.3-clean", "CG_lagging", "OrderTopic1")
SQL = ("--sql92", "a > 5")
TOPICS = ("OrderTopic0", "OrderTopic1", "OrderTopic2", "OrderTopic3")


def expected(name: str, topic: str, offsets: Mapping[int, int], matches: Matches) -> dict[int, list[int]]:
    """queue_id -> the queue offsets of matching messages from the group's offset on."""
    held = {row["physicalOffset"]: row["properties"] for row in messages(name)}
    found = {}
    for queue in truth_lines(name, "queues.jsonl.gz"):
        if queue["topic"] == topic and queue["maxOffset"]:
            places, first = unit_places(queue)
            unread = range(max(first, offsets[queue["queueId"]]), queue["maxOffset"])
            found[queue["queueId"]] = [number for number in unread if matches(held[places[number - first]])]
    return found


def messages(name: str) -> Iterator[dict[str, Any]]:
    return (row for row in truth_lines(name, "messages.jsonl.gz") if row["type"] == "message")


def consumed(name: str, group: str, topic: str) -> dict[int, int]:
    asked = ("lag", store_root(name), "--group", group, "--topic", topic)
    return {row["queue_id"]: row["consumer_offset"] for row in rows_of(*asked)}


@pytest.mark.parametrize(
    ("option", "matches"),
    [
        (["--tags", "TagA"], lambda held: held.get("TAGS") == "TagA"),
        (["--tags", " TagA||  标签 || "], lambda held: held.get("TAGS") in ("TagA", "标签")),
        (["--tags", "*"], lambda held: True),
        (["--tags", "NoSuchTag"], lambda held: False),
        (["--sql92", "a > 5 AND TAGS = 'TagA'"], lambda held: int(held.get("a", 0)) > 5 and held.get("TAGS") == "TagA"),
        (["--sql92", "a IS NULL OR NOT (a BETWEEN 2 AND 7)"], lambda held: not 2 <= int(held.get("a", 0)) <= 7),
        (["--sql92", "TAGS IN ('TagA', 'TagB') AND n >= 1000"],
         lambda held: held.get("TAGS") in ("TagA", "TagB") and int(held.get("n", 0)) >= 1000),
    ],
)  # fmt: skip
def test_unread_messages_that_match_and_the_first_of_them(option: list[str], matches: Matches) -> None:
    name, group, topic = CLEAN
    rows = rows_of("backlog", store_root(name), "--group", group, "--topic", topic, "--version", "5.3.3", *option)
    offsets = consumed(name, group, topic)
    numbers, unread = expected(name, topic, offsets, matches), expected(name, topic, offsets, lambda held: True)
    assert {row["queue_id"]: row["matching"] for row in rows} == {at: len(found) for at, found in numbers.items()}
    assert {row["queue_id"]: row["unread"] for row in rows} == {at: len(found) for at, found in unread.items()}
    heads = {row["queue_id"]: row["head_queue_offset"] for row in rows}
    assert heads == {at: found[0] if found else None for at, found in numbers.items()}


def test_the_head_is_the_message_that_java_read_there() -> None:
    name, group, topic = CLEAN
    held = {row["physicalOffset"]: row for row in messages(name)}
    for row in rows_of("backlog", store_root(name), "--group", group, "--topic", topic, "--tags", "TagA"):
        told = held[row["head_physical_offset"]]
        assert (told["queueId"], told["queueOffset"]) == (row["queue_id"], row["head_queue_offset"])
        assert told["properties"].get("KEYS") == row["head_keys"]
        assert told["properties"]["TAGS"] == row["head_tags"] == "TagA"


@pytest.mark.parametrize("name", ["4.9.7-cqext", "5.3.3-cqext"])
def test_tags_of_ext_units_are_looked_up(name: str, tmp_path: Path) -> None:
    """Their units hold addresses for tags codes. A kept copy of offsets says that a group has read nothing."""
    topic, tag = next(
        (row["topic"], row["properties"]["TAGS"])
        for row in messages(name)
        if not row["topic"].startswith(("%", "SCHEDULE", "RMQ_SYS", "rmq_sys")) and row["properties"].get("TAGS")
    )
    offsets = {queue["queueId"]: 0 for queue in truth_lines(name, "queues.jsonl.gz") if queue["topic"] == topic}
    copy = tmp_path / "consumerOffset.json"
    copy.write_text(json.dumps({"offsetTable": {f"{topic}@G": offsets}}))
    rows = rows_of("backlog", store_root(name), "--offsets", copy, "--group", "G", "--topic", topic, "--tags", tag)
    numbers = expected(name, topic, offsets, lambda held: held.get("TAGS") == tag)
    assert {row["queue_id"]: row["matching"] for row in rows} == {at: len(found) for at, found in numbers.items()}
    assert any(numbers.values())


def test_the_filter_that_the_broker_keeps_is_asked() -> None:
    rows = rows_of("backlog", store_root("5.3.3-clean"), "--group", "CG_sql")
    assert {row["subscription"] for row in rows} == {"a > 5 AND TAGS = 'TagA'"}
    assert {row["matching"] for row in rows} == {0}


def test_groups_that_share_messages_are_answered_in_one_reading_of_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two groups with a filter each, which have read different parts of the same queues of two topics."""
    name, root, topics = "5.3.3-clean", tmp_path / "store", TOPICS[:2]
    copy_tree(store_root(name), root)
    groups: dict[str, tuple[str, int, Matches]] = {
        "G0": ("a > 5", 0, lambda held: int(held.get("a", 0)) > 5),
        "G1": ("a <= 5", 3, lambda held: int(held.get("a", 9)) <= 5),
    }
    kept = json.loads((root / "config" / "consumerFilter.json").read_text())
    filters_by_topic = kept["filterDataByTopic"]
    pattern = filters_by_topic[TOPICS[0]]["groupFilterData"].pop("CG_sql")
    for topic in topics:
        of_topic = filters_by_topic.setdefault(topic, {"topic": topic, "groupFilterData": {}})
        for group, (expression, _, _) in groups.items():
            told = {"consumerGroup": group, "topic": topic, "expression": expression}
            of_topic["groupFilterData"][group] = pattern | told
    (root / "config" / "consumerFilter.json").write_text(json.dumps(kept))
    copy = tmp_path / "consumerOffset.json"
    table = {
        f"{topic}@{group}": dict.fromkeys(range(8), first)
        for topic in topics
        for group, (_, first, _) in groups.items()
    }
    copy.write_text(json.dumps({"offsetTable": table}))
    readings = []
    monkeypatch.setattr(filters, "read_commitlog", lambda *a, **k: readings.append(1) or read_commitlog(*a, **k))
    rows = rows_of("backlog", root, "--offsets", copy)
    for group, (_, first, matches) in groups.items():
        for topic in topics:
            numbers = expected(name, topic, dict.fromkeys(range(8), first), matches)
            found = {row["queue_id"]: row["matching"] for row in rows if (row["group"], row["topic"]) == (group, topic)}
            assert found == {at: len(each) for at, each in numbers.items()}
            assert any(numbers.values())
    assert len(readings) == 1


def test_a_kept_filter_tells_that_it_may_be_old_and_tags_override_it(tmp_path: Path) -> None:
    name, topic = "5.3.3-clean", "OrderTopic1"
    copy = tmp_path / "consumerOffset.json"
    copy.write_text(json.dumps({"offsetTable": {f"{each}@CG_sql": dict.fromkeys(range(8), 0) for each in TOPICS}}))
    asked = ("backlog", store_root(name), "--offsets", copy, "--group", "CG_sql")
    kept = [row for row in rows_of(*asked) if row["subscription"] is not None and row["unread"]]
    assert kept
    assert all("--tags" in row["reason"] for row in kept)
    said = rows_of(*asked, "--topic", topic, "--tags", "TagA")
    assert {(row["subscription"], row["reason"]) for row in said} == {("TagA", None)}


def test_without_a_subscription_what_matches_is_not_known() -> None:
    rows = rows_of("backlog", store_root("5.3.3-clean"), "--group", "CG_lagging")
    assert {row["matching"] for row in rows} == {None}
    assert all("--tags" in row["reason"] for row in rows)


def test_a_filter_that_no_broker_can_parse_is_refused() -> None:
    name, group, topic = CLEAN
    asked = ("backlog", store_root(name), "--group", group, "--topic", topic, "--version", "5.3.3")
    called = call(*asked, "--sql92", "a =")
    assert (called.code, called.out) == (2, b"")
    assert "--sql92" in called.err


def test_unread_messages_that_the_log_does_not_give_leave_the_match_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """The log's files went between the ledger and the filter's reading."""
    name, group, topic = CLEAN
    monkeypatch.setattr(filters, "read_commitlog", lambda *args, **kwargs: iter(()))
    rows = rows_of("backlog", store_root(name), "--group", group, "--topic", topic, *("--version", "5.3.3"), *SQL)
    assert {row["matching"] for row in rows} == {None}
    assert all(row["reason"].startswith(f"{row['unread']} of its unread messages cannot be read") for row in rows)


@pytest.mark.parametrize(
    "option", [["--tags", "A"], ["--tags", "A", "--sql92", "a = 1", "--group", "G", "--topic", "T"]]
)
def test_a_subscription_is_of_one_group_and_topic_and_of_one_kind(option: list[str]) -> None:
    assert call("backlog", store_root("5.3.3-clean"), *option).code == 2
