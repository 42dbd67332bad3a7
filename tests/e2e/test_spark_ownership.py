"""Recordings through Spark into the ownership tables: the rows of a replay in one process, whoever read what."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dagster as dg
import pytest

from pipelines.answers.recorded.beside import events_beside, logs_beside
from pipelines.answers.recorded.ownership_rows import LoggedEvent, logged, rows_to_batch
from pipelines.defs.assets.ownership import replayed_ownership
from pipelines.defs.lakehouse import Lakehouse
from pipelines.lake.configuration.sources import Sources
from pipelines.lake.lake import Lake
from pipelines.lake.tables.ownership import HEARTBEATS, LOG_EVENTS
from pipelines.lake.tables.raw import TABLES
from pipelines.recordings.recordings import facts_of, find_recordings
from pipelines.spark.jobs.ownership import REPLAYED, replay_sources
from rebalance.facts.heartbeats import heartbeats_of
from rebalance.replay import replay
from tests.support.copies import copy_tree
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
    copy_tree(SESSIONS / name, folder)
    copy_tree(GOLDEN / "rebalance" / "proxied", folder / "proxied")
    replayed = replay_sources(spark, lake, recorded(folder, lake))
    assert replayed.problems == []
    events: list[LoggedEvent] = []
    facts = [
        fact
        for found in find_recordings([folder])
        for fact in facts_of(found, pytest.fail, lambda event, stem=found.stem: events.append(logged(event, stem)))
    ]
    beside = logs_beside([folder])
    events += [logged(event, log.stem) for log in beside for event in events_beside(log, pytest.fail)]
    assert {log.stem for log in beside} >= {"proxy", "stats", "transaction", "watermark"}
    history = replay(facts)
    expected: dict[str, list[Any]] = {table: list(getattr(history, attribute)) for table, attribute in REPLAYED.items()}
    expected[LOG_EVENTS.name] = events
    expected[HEARTBEATS.name] = list(heartbeats_of(facts))
    for table, rows in expected.items():
        told = lake.query(f"SELECT * EXCLUDE source FROM {table}").to_pylist()
        due = rows_to_batch(TABLES[table].bare_schema, rows, "").drop_columns(["source"]).to_pylist()
        assert sorted(told, key=repr) == sorted(due, key=repr)
        assert replayed.rows[table] == len(due)
    assert len(events) > 100
    assert lake.query("SELECT count(DISTINCT source) AS n FROM log_events").to_pylist()[0]["n"] > 1
    assert not list(lake.root.glob(".facts-*"))


def test_a_second_replay_replaces_the_first(spark: SparkSession, lake: Lake, tmp_path: Path) -> None:
    both = tmp_path / "recorded"
    for name in ("c-497-ordered-kill", "h-533-quiet"):
        copy_tree(SESSIONS / name, both / name)
    replay_sources(spark, lake, recorded(both, lake))
    first = lake.rows("ownership_intervals")
    shutil.rmtree(both / "c-497-ordered-kill")
    replayed = replay_sources(spark, lake, recorded(both, lake))
    assert 0 < replayed.rows["ownership_intervals"] == lake.rows("ownership_intervals") < first


def test_what_cannot_be_read_is_told_and_the_rest_is_there(spark: SparkSession, lake: Lake, tmp_path: Path) -> None:
    folder = tmp_path / "recorded"
    copy_tree(SESSIONS / "h-533-quiet", folder)
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


def test_a_run_tells_what_the_lines_of_the_logs_were(spark: SparkSession, tmp_path: Path) -> None:
    start = b"2026-11-21 23:07:12.907 INFO  [7] [main] [x#?:?] - "
    texts = (b"strange words here 1\n", b"strange words here 2\n", b"others | and `more`\n\tat a.stack\n")
    (tmp_path / "rocketmq_client.log").write_bytes(b"".join(start + text for text in texts))
    config = tmp_path / "rocketlens.toml"
    config.write_text('[lake]\npath = "lake"\nspark_master = "local[2]"\n[[client]]\nlogs = "rocketmq_client.log"\n')
    with dg.DagsterInstance.ephemeral() as instance:
        lakehouse = Lakehouse(config_file=str(config))
        ran = dg.materialize([replayed_ownership], instance=instance, resources={"lakehouse": lakehouse})
        told = {
            made.asset_key.to_user_string(): made.metadata
            for made in ran.asset_materializations_for_node("replayed_ownership")
        }
    assert (
        told["log_events"]["log_lines"].value
        == "4 lines of 1 logs: 3 of no known text, 1 that continue the entry above"
    )
    samples = str(told["log_events"]["unrecognised_lines"].value).splitlines()
    assert samples[0].startswith("- 2 of rocketmq_client.log: `")
    assert "strange words" in samples[0]
    assert len(samples) == 2
    assert "log_lines" not in told["heartbeats"]
