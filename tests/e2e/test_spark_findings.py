"""Findings of several brokers with their logs read in slices: those of a verification in one piece."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pipelines.answers.derived.store_rows import finding_rows
from pipelines.lake.configuration.sources import BrokerSource
from pipelines.lake.lake import Lake
from pipelines.lake.tables.judgements import CONSISTENCY_FINDINGS
from pipelines.spark.jobs.first_pass import outlines
from pipelines.spark.jobs.store_rows import judge_brokers
from pipelines.spark.sources.slices import DEFAULT_SPLIT_BYTES
from tests.support.build_store import SETTINGS, overwrite, queue_file, shop
from tests.support.stores import store_root

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
SPLIT_BYTES = 900
FINDINGS = CONSISTENCY_FINDINGS.name
STEP_ON_A_UNIT = b"\0\0\0\1"


@pytest.fixture
def brokers(tmp_path: Path) -> list[BrokerSource]:
    """One without damage, one with damage in log and queue, one whose queues list other queues."""
    whole, hurt = shop(tmp_path / "whole"), shop(tmp_path / "hurt")
    hurt.finish()
    overwrite(hurt.root / "commitlog" / f"{0:020d}", hurt.records[4].physical_offset + 4, STEP_ON_A_UNIT)
    overwrite(queue_file(hurt.root, "Orders", 1), 65, STEP_ON_A_UNIT)
    settings = {name: str(value) for name, value in SETTINGS.as_config().items()}
    return [
        BrokerSource("whole", whole.finish(), version="5.3.3", settings=settings),
        BrokerSource("hurt", hurt.root, version="5.3.3", settings=settings),
        BrokerSource("light", store_root("5.3.3-lmq"), version="5.3.3"),
    ]


def test_rules_give_the_same_rows_however_the_log_is_cut(
    spark: SparkSession, brokers: list[BrokerSource], lake: Lake
) -> None:
    expected = [row for broker in brokers for row in finding_rows(broker)]
    assert {row["broker"] for row in expected} == {"hurt"}
    assert "log_damaged" in {row["kind"] for row in expected}
    few = brokers[:2]
    assert all(parts is not None and len(parts.outlines) > 10 for parts in outlines(spark, few, SPLIT_BYTES))
    for cut, split_bytes in ((few, SPLIT_BYTES), (brokers, DEFAULT_SPLIT_BYTES)):
        assert judge_brokers(spark, lake, CONSISTENCY_FINDINGS.name, cut, split_bytes=split_bytes) == len(expected)
        found = lake.query(f"SELECT * EXCLUDE (evidence) FROM {CONSISTENCY_FINDINGS.name}").to_pylist()
        named = [{name: row[name] for name in found[0]} for row in expected]
        assert sorted(map(repr, found)) == sorted(map(repr, named))
