"""The notebooks run from top to bottom on a real lake and say what is true of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pipelines.ingest.ingest import ingest
from pipelines.lake.catalog import publish
from pipelines.lake.configuration.sources import read_sources
from pipelines.lake.lake import Lake
from pipelines.spark.jobs.store_rows import judge_brokers
from tests.support.notebooks import NOTEBOOKS, run_notebook

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def configured(tmp_path: Path, demo_store: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> Lake:
    config = tmp_path / "rocketlens.toml"
    config.write_text(f'[lake]\npath = "lake"\n[[broker]]\nname = "broker-a"\nstore = {json.dumps(str(demo_store))}\n')
    sources = read_sources(config)
    ingest(spark, sources)
    lake = Lake(sources.lake)
    judge_brokers(spark, lake, "lag", sources.brokers)
    publish(lake)
    monkeypatch.setenv("ROCKETLENS_CONFIG", str(config))
    return lake


@pytest.mark.spark
def test_what_is_in_this_store(configured: Lake) -> None:
    told = run_notebook("01_what_is_in_this_store")
    assert "6,114 units looked at, 0 without their message" in told.printed
    assert told.pictures == 3
    for part in ("CG_lagging", "OrderTopic"):
        assert part in "".join(told.pages), part


def test_no_notebook_defines_what_belongs_into_a_module() -> None:
    for path in NOTEBOOKS.glob("*.py"):
        lines = path.read_text("utf-8").splitlines()
        assert not [line for line in lines if line.startswith(("def ", "class "))], path.name
