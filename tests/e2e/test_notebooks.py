"""The notebooks run from top to bottom on a real lake and say what is true of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jupytext
import pytest
from nbclient import NotebookClient

from pipelines.catalog import publish
from pipelines.ingest import ingest
from pipelines.lake import Lake
from pipelines.sources import read_sources
from pipelines.spark.lag_job import broker_lag

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NOTEBOOKS = Path(__file__).resolve().parents[2] / "notebooks"


@pytest.fixture
def configured(tmp_path: Path, demo_store: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> Lake:
    config = tmp_path / "rocketlens.toml"
    config.write_text(f'[lake]\npath = "lake"\n[[broker]]\nname = "broker-a"\nstore = {json.dumps(str(demo_store))}\n')
    sources = read_sources(config)
    ingest(spark, sources)
    lake = Lake(sources.lake)
    lake.write("lag", broker_lag(spark, lake, "broker-a"))
    publish(lake)
    monkeypatch.setenv("ROCKETLENS_CONFIG", str(config))
    return lake


def run(name: str) -> list[dict[str, Any]]:
    notebook = jupytext.read(NOTEBOOKS / name)
    NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    return [output for cell in notebook.cells for output in cell.get("outputs", [])]


@pytest.mark.spark
def test_what_is_in_this_store(configured: Lake) -> None:
    outputs = run("01_what_is_in_this_store.py")
    told = "".join(str(output.get("text", "")) for output in outputs)
    assert "6,114 units looked at, 0 without their message" in told
    pictures = [output for output in outputs if "image/png" in output.get("data", {})]
    assert len(pictures) == 3
    tables = "".join(str(output.get("data", {}).get("text/html", "")) for output in outputs)
    for part in ("compaction/position-checkpoint", "CG_lagging", "OrderTopic"):
        assert part in tables, part


def test_no_notebook_defines_what_belongs_into_a_module() -> None:
    for path in NOTEBOOKS.glob("*.py"):
        lines = path.read_text("utf-8").splitlines()
        assert not [line for line in lines if line.startswith(("def ", "class "))], path.name
