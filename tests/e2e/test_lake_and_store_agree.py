"""The lake answers as the store does, on stores that brokers left after deletions, resets and copies."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import rocketlens as rl
from pipelines.ingest.derive import derive
from pipelines.ingest.ingest import ingest
from pipelines.lake.configuration.sources import BrokerSource, Sources
from pipelines.lake.lake import Lake
from tests.support.cli import call
from tests.support.copies import copy_tree
from tests.support.incidents import Incident, incident

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
CASES = ("4.9.7-topic-recreated", "4.9.7-topic-deleted", "5.3.3-topic-recreated", "4.9.7-offsets-reset")
COPIED_AT = 4_000_000_000
"""Epoch seconds; later than any message."""


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Stores by the broker's name, the last of them copied without its files' times."""
    copy = tmp_path_factory.mktemp("copy") / "store"
    copy_tree(incident("5.3.3-offsets-reset").root, copy)
    for path in copy.rglob("*"):
        os.utime(path, (COPIED_AT, COPIED_AT))
    return {name: incident(name).root for name in CASES} | {"copied": copy}


@pytest.fixture(scope="module")
def lake(spark: SparkSession, stores: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Lake:
    brokers = tuple(
        BrokerSource(name, root, version="5.3.3" if name == "copied" else name.partition("-")[0])
        for name, root in stores.items()
    )
    sources = Sources(lake=tmp_path_factory.mktemp("agree") / "lake", brokers=brokers)
    ingest(spark, sources)
    derive(spark, sources)
    return Lake(sources.lake)


def test_lag_is_the_same(lake: Lake, stores: dict[str, Path]) -> None:
    for broker, root in stores.items():
        told = rl.store(root).lag().table
        names = ", ".join(f'"{name}"' for name in told.column_names)
        found = lake.query(f"SELECT {names} FROM lag WHERE broker = $broker", broker=broker)
        assert sorted(map(repr, found.to_pylist())) == sorted(map(repr, told.to_pylist())), broker
        assert found.num_rows


def test_topics_have_the_same_lives(lake: Lake, stores: dict[str, Path]) -> None:
    for broker, root in stores.items():
        told = [(row["topic"], row["life"], row["state"], row["messages"]) for row in call("topics", root).rows]
        found = lake.query(
            "SELECT topic, life, any_value(state), sum(messages)::BIGINT FROM topic_lives WHERE broker = $broker "
            "GROUP BY topic, life ORDER BY topic, life",
            broker=broker,
        )
        assert [tuple(row.values()) for row in found.to_pylist()] == sorted(told), broker


def test_the_story_of_a_message_is_the_same(lake: Lake, stores: dict[str, Path]) -> None:
    for broker in CASES[:3]:
        for message_id in ids_of(incident(broker)):
            told, found = (steps(source, message_id) for source in (stores[broker], lake.root))
            assert found == told, (broker, message_id)


def ids_of(case: Incident) -> list[str]:
    """One message of each life of each topic."""
    answers = case.told()["answers"]["topics"]
    wanted = {
        life["physicalOffsets"][3]
        for topic in answers.values()
        if isinstance(topic, dict)
        for life in topic.get("lives", ())
        if len(life["physicalOffsets"]) > 3
    }
    lines = case.lines("messages.jsonl.gz")
    return [line["uniqKey"] for line in lines if line["type"] == "message" and line["physicalOffset"] in wanted]


def steps(source: Path, message_id: str) -> list[tuple[Any, ...]]:
    """The steps that the evidence of both tells; a lake also knows of the owners."""
    rows = call("who", source, "--message-id", message_id, "--quiet").rows
    return sorted((row["step"], row["group"] or "", row["what"], row["certain"]) for row in rows)
