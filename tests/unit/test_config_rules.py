"""Configuration against queues whose ends are given: the rules alone, without a store."""

from __future__ import annotations

from pathlib import Path

import pytest

from parsers.store.store import open_store
from parsers.values.topics import SCHEDULE_TOPIC
from recovery.lives.life import TopicLives
from recovery.verify.checks.config import QueueEnds, check_config
from tests.support.build_store import write_json

ENDS = {("Orders", 0): (5, 20), (SCHEDULE_TOPIC, 2): (3, 9)}
QUEUES = QueueEnds(ENDS, ENDS.keys(), frozenset({"Orders", "Gone"}), TopicLives())


@pytest.mark.parametrize(
    ("file", "content", "kinds"),
    [
        ("consumerOffset.json", {"offsetTable": {"Orders@g": {"0": 20}}}, []),
        ("consumerOffset.json", {"offsetTable": {"Orders@g": {"0": 5}}}, []),
        ("consumerOffset.json", {"offsetTable": {"Orders@g": {"0": 4}}}, ["consumer_offset_below_min"]),
        ("consumerOffset.json", {"offsetTable": {"Orders@g": {"0": 21}}}, ["consumer_offset_above_max"]),
        ("consumerOffset.json", {"offsetTable": {"Never@g": {"0": 0}}}, []),
        ("delayOffset.json", {"offsetTable": {"3": 9}}, []),
        ("delayOffset.json", {"offsetTable": {"3": 2}}, ["delay_offset_below_min"]),
        ("delayOffset.json", {"offsetTable": {"3": 10}}, ["delay_offset_above_max"]),
        ("topics.json", {"topicConfigTable": {"Orders": {}, "Quiet": {}}}, []),
        ("topics.json", {"topicConfigTable": {"Orders": {}, "Gone": {}}}, ["topic_config_without_queue"]),
        ("topics.json", {"topicConfigTable": {"Quiet": {}}}, ["queue_without_topic_config"]),
    ],
)
def test_one_file_against_the_queues(file: str, content: object, kinds: list[str], tmp_path: Path) -> None:
    write_json(tmp_path / "config" / file, content)
    judgement = check_config(open_store(tmp_path).config, QUEUES)
    assert [found.kind for found in judgement.findings] == kinds


def test_offsets_are_not_judged_without_queues_to_ask(tmp_path: Path) -> None:
    write_json(tmp_path / "config" / "consumerOffset.json", {"offsetTable": {"Orders@g": {"0": 999}}})
    assert check_config(open_store(tmp_path).config, None).findings == ()
