"""The table `lag_episodes` says of a recorded cluster what the command says of its store and kept offsets."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelines.answers.episodes.of_lake import lake_episodes
from pipelines.ingest.derive import write_lag_history
from pipelines.lake.configuration.sources import BrokerSource, Sources, read_sources
from pipelines.lake.lake import Lake
from pipelines.notebook.bundles import bundle, bundled_store
from tests.support.cli import call
from tests.support.cluster_lake import lake_of_cluster

SHARES = ("group", "topic", "peak_messages", "message_seconds", "cause", "unexplained", "worst_queue_id", "reason")


def test_a_lake_finds_the_episodes_of_the_command(tmp_path: Path) -> None:
    store, kept = bundled_store("orders-cluster"), bundle("orders-cluster") / "offsets"
    sources = read_sources(lake_of_cluster(tmp_path))
    lake = Lake(tmp_path / "lake")
    write_lag_history(lake)
    found = [{name: row[name] for name in SHARES} for row in lake_episodes(lake, sources)]
    told = [{name: row[name] for name in SHARES} for row in call("episodes", store, "--offsets", kept).rows]
    assert found == [{**row, "message_seconds": pytest.approx(row["message_seconds"])} for row in told]
    assert found


def test_brokers_without_lag_are_not_asked_one_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, query = [], Lake.query
    monkeypatch.setattr(Lake, "query", lambda lake, sql, **named: asked.append(sql) or query(lake, sql, **named))
    brokers = tuple(BrokerSource(f"b{number}", tmp_path) for number in range(5))
    assert list(lake_episodes(Lake(tmp_path), Sources(tmp_path, brokers))) == []
    assert len(asked) == 1
