"""Logical queues of static topics: every item as RocketMQ's own classes see it, and odd files as damage."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from parsers.config.queue_mappings import read_queue_mappings
from parsers.damage.errors import Damage
from parsers.store.store import open_store
from tests.support.cli import call
from tests.support.static_topics import STATIC_TOPICS, VERSIONS, static_store


@pytest.mark.parametrize("version", VERSIONS)
def test_every_item_is_that_of_the_classes(version: str) -> None:
    told = [json.loads(line) for line in (STATIC_TOPICS / version / "truth.jsonl").read_text("utf-8").splitlines()]
    rows = call("dump", "config", static_store(version), "--table", "queue_mappings").rows
    items = [row for row in rows if row["logic_queue_id"] is not None]
    assert len(items) == len(told) > 30
    for row, truth in zip(items, told, strict=True):
        assert (row["topic"], row["logic_queue_id"], row["generation"]) == (
            truth["topic"],
            truth["logic_queue_id"],
            truth["gen"],
        )
        assert (row["item_broker_name"], row["queue_id"]) == (truth["item_broker"], truth["queue_id"])
        assert (row["end_queue_offset"] is not None) == truth["is_end_decided"]
        assert row["logic_start_offset"] == (truth["first"] if truth["is_logic_decided"] else None)
        if truth["is_end_decided"] and truth["is_logic_decided"]:
            assert row["logic_end_offset"] == truth["end"]
        assert row["is_led_here"] == truth["current"]
    (without,) = (row for row in rows if row["logic_queue_id"] is None)
    assert (without["topic"], without["total_queues"], without["is_led_here"]) == ("Static5", 9, None)
    assert {row["topic"] for row in rows if row["is_dirty"]} == {"Static4"}


@pytest.mark.parametrize(
    "text",
    [
        '{"topicQueueMappingInfoMap":{"T":7}}',
        '{"topicQueueMappingInfoMap":{"T":{"hostedQueues":{"x":[]}}}}',
        '{"topicQueueMappingInfoMap":{"T":{"hostedQueues":{0:7}}}}',
    ],
)
def test_what_is_no_mapping_is_reported(text: str, tmp_path: Path) -> None:
    for folder in ("commitlog", "config"):
        (tmp_path / folder).mkdir()
    (tmp_path / "config" / "topicQueueMapping.json").write_text(text)
    seen: list[Damage] = []
    assert not read_queue_mappings(open_store(tmp_path).config, damage=seen.append)
    assert len(seen) == 1


@pytest.mark.parametrize("command", ["backlog", "lag", "ledger", "offsets", "queues"])
def test_what_is_told_of_a_part_says_so(command: str) -> None:
    told = call(command, static_store("5.5.0"))
    assert (
        "static topics (Static0, Static1, Static2, Static3, Static4 …): queues and offsets are this broker's"
        in told.err
    )
