"""Dagster over a real store: all green when it is clean, exactly the right checks red when it is not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import dagster as dg
import pytest

from parsers.commitlog.record.message import decode_message
from parsers.consumequeue.layout import CQ_UNIT
from pipelines.definitions import defs
from pipelines.defs.lakehouse import Lakehouse
from pipelines.defs.partitions import TABLES_BY_PARTITION
from pipelines.defs.runs.materialize import Outcome, materialize_everything, materialize_stage, stages
from pipelines.lake.lake import Lake

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WITHOUT_FILES = {"ext_units", "compacted_messages"}
"""The broker of this store kept no ext units and no compacted topics: no partition, so nothing is made or checked."""

TRUTH = Path(__file__).resolve().parents[2] / "demo" / "5.3.3-clean" / "truth"


@pytest.fixture
def lakehouse(tmp_path: Path, own_store: Path) -> Lakehouse:
    config = tmp_path / "rocketlens.toml"
    config.write_text(
        f'[lake]\npath = "lake"\nspark_master = "local[2]"\n'
        f'[[broker]]\nname = "broker-a"\nstore = {json.dumps(str(own_store))}\nversion = "5.3.3"\n'
    )
    return Lakehouse(config_file=str(config))


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    """One that keeps its events in memory: on disk each is a transaction of its own."""
    with dg.DagsterInstance.ephemeral() as kept:
        yield kept


def damage_store(store: Path) -> None:
    """A body with a flipped bit, a record without a head, a unit that points beside its message."""
    log = store / "commitlog" / "00000000000001048576"
    data = bytearray(log.read_bytes())
    data[88 + 10] ^= 1
    at = 0
    while at < 500_000:
        at += decode_message(data, at).total_size
    data[at : at + 88] = b"\xff" * 88
    log.write_bytes(data)
    queue = store / "consumequeue" / "OrderTopic3" / "0" / "00000000000000000000"
    units = bytearray(queue.read_bytes())
    row = CQ_UNIT.unpack(units, 5 * CQ_UNIT.size)
    units[5 * CQ_UNIT.size : 6 * CQ_UNIT.size] = CQ_UNIT.pack({**row, "msg_size": row["msg_size"] + 1})
    queue.write_bytes(units)


@pytest.mark.spark
def test_a_clean_store_is_green_but_for_its_dead_letters_and_says_what_it_holds(
    spark: SparkSession, lakehouse: Lakehouse, instance: dg.DagsterInstance
) -> None:
    outcome = materialize_everything(defs, instance, lakehouse)
    graph = defs.resolve_asset_graph()
    every_check = {(key.asset_key.to_user_string(), key.name) for key in graph.asset_check_keys}
    assert set(outcome.checks) == {(asset, name) for asset, name in every_check if asset not in WITHOUT_FILES}
    assert outcome.failed_checks == []
    assert outcome.warnings == ["retry_chains.no_dead_letter"]  # CG_failing gave up eleven messages
    made = set(outcome.assets)
    assert made == {key.to_user_string() for key in graph.materializable_asset_keys} - WITHOUT_FILES
    lag_equals_what_the_broker_said(lakehouse.lake())
    materialization = instance.get_latest_materialization_event(dg.AssetKey("lag"))
    assert materialization is not None
    assert materialization.asset_materialization is not None
    metadata = materialization.asset_materialization.metadata
    assert metadata["dagster/row_count"].value == lakehouse.lake().rows("lag")
    assert "data:image/png;base64," in str(metadata["plot"].value)
    assert len(str(metadata["plot"].value)) < 20_000, "plots live in the event log"


def lag_equals_what_the_broker_said(lake: Lake) -> None:
    truth = json.loads((TRUTH / "consumer_progress.json").read_text())
    rows = lake.query("SELECT * FROM lag").to_pylist()
    for group, told in truth.items():
        ours = {
            (row["topic"], row["queue_id"]): (row["broker_offset"], row["consumer_offset"], row["messages_behind"])
            for row in rows
            if row["group"] == group
        }
        theirs = {
            (queue["topic"], queue["queueId"]): (
                queue["brokerOffset"],
                queue["consumerOffset"],
                queue["brokerOffset"] - queue["consumerOffset"],
            )
            for queue in told.get("queues", [])
        }
        if "error" not in told:
            assert ours == theirs, group


@pytest.mark.spark
def test_damage_turns_exactly_its_checks_red(
    spark: SparkSession, lakehouse: Lakehouse, instance: dg.DagsterInstance, own_store: Path
) -> None:
    damage_store(own_store)
    outcome = Outcome()
    for stage in stages(lakehouse, dg.AssetSelection.groups()):
        if stage.partitions in TABLES_BY_PARTITION:
            materialize_stage(defs, instance, lakehouse, stage, outcome)
    assert {"commitlog_messages", "commitlog_regions", "consumequeue_units", "index_entries"} <= set(outcome.assets)
    assert set(outcome.failed_checks) == {
        "commitlog_messages.every_crc_right",
        "commitlog_regions.no_damage",
        "consumequeue_units.every_unit_has_its_message",
    }
    found = {
        row["queue_offset"]
        for row in lakehouse.lake()
        .query(
            "SELECT queue_offset FROM consumequeue_units AS u ANTI JOIN commitlog_messages AS m "
            "ON m.physical_offset = u.physical_offset AND m.total_size = u.msg_size WHERE u.topic = 'OrderTopic3'"
        )
        .to_pylist()
    }
    assert 5 in found


def test_definitions_load_and_name_every_table_that_is_made() -> None:
    dg.Definitions.validate_loadable(defs)
