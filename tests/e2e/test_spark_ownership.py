"""Recordings through Spark into the ownership tables: the rows of a replay in one process, whoever read what."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pipelines.lake import Lake
from pipelines.ownership_rows import rows_to_batch
from pipelines.ownership_tables import HEARTBEATS
from pipelines.recordings import facts_of, find_recordings
from pipelines.sources import Sources
from pipelines.spark.ownership_job import REPLAYED, replay_sources
from pipelines.tables import TABLES
from rebalance.heartbeats import heartbeats_of
from rebalance.replay import replay
from tests.support.fixtures import GOLDEN

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
SESSIONS = GOLDEN / "rebalance" / "sessions"


def recorded(folder: Path, lake: Lake) -> Sources:
    return Sources(lake.root, client_logs=(f"{folder}/**/*.log.gz",), captures=(f"{folder}/**/wire*.jsonl.gz",))


@pytest.mark.parametrize("name", ["b-497-two-brokers", "c-497-ordered-kill"])
def test_the_tables_hold_the_rows_of_a_replay(spark: SparkSession, lake: Lake, tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    shutil.copytree(SESSIONS / name, folder)
    replayed = replay_sources(spark, lake, recorded(folder, lake))
    assert replayed.problems == []
    facts = [fact for found in find_recordings([folder]) for fact in facts_of(found, pytest.fail)]
    history = replay(facts)
    expected = {table: list(getattr(history, attribute)) for table, attribute in REPLAYED.items()}
    expected[HEARTBEATS.name] = list(heartbeats_of(facts))
    for table, rows in expected.items():
        told = lake.query(f"SELECT * EXCLUDE source FROM {table}").to_pylist()
        due = rows_to_batch(TABLES[table].bare_schema, rows, "").drop_columns(["source"]).to_pylist()
        assert sorted(told, key=repr) == sorted(due, key=repr)
        assert replayed.rows[table] == len(due)
    assert replayed.rows["log_events"] == lake.rows("log_events") > 0
    assert not list(lake.root.glob(".facts-*"))


def test_a_second_replay_replaces_the_first(spark: SparkSession, lake: Lake, tmp_path: Path) -> None:
    both = tmp_path / "recorded"
    for name in ("c-497-ordered-kill", "h-533-quiet"):
        shutil.copytree(SESSIONS / name, both / name)
    replay_sources(spark, lake, recorded(both, lake))
    first = lake.rows("ownership_intervals")
    shutil.rmtree(both / "c-497-ordered-kill")
    replayed = replay_sources(spark, lake, recorded(both, lake))
    assert 0 < replayed.rows["ownership_intervals"] == lake.rows("ownership_intervals") < first


def test_what_cannot_be_read_is_told_and_the_rest_is_there(spark: SparkSession, lake: Lake, tmp_path: Path) -> None:
    folder = tmp_path / "recorded"
    shutil.copytree(SESSIONS / "h-533-quiet", folder)
    (log,) = folder.glob("**/c1/rocketmq_client.log.gz")
    log.write_bytes(log.read_bytes()[: log.stat().st_size // 2])
    replayed = replay_sources(spark, lake, recorded(folder, lake))
    assert len(replayed.problems) == 1
    assert "c1/rocketmq_client.log.gz" in replayed.problems[0]
    assert replayed.rows["ownership_intervals"] > 0


def test_nothing_recorded_makes_empty_tables(spark: SparkSession, lake: Lake) -> None:
    replayed = replay_sources(spark, lake, Sources(lake.root))
    assert set(replayed.rows.values()) == {0}
    assert lake.query("SELECT count(*) AS n FROM ownership_intervals").to_pylist() == [{"n": 0}]
