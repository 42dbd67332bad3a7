"""What an ingest wrote is materialized in Dagster by partition, its checks are evaluated; told once, not twice."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dagster as dg
import pytest

from pipelines.definitions import defs
from pipelines.defs.dagster_home import has_home, instance_of
from pipelines.defs.lakehouse import Lakehouse
from pipelines.defs.partitions import FILE_PARTITIONS
from pipelines.defs.plots import NOT_PLOTTED, PLOTS, plot_of
from pipelines.defs.runs import ingest_events
from pipelines.defs.runs.ingest_events import ASSETS, tell_dagster
from tests.support.small_lake import put

FILES = ("commitlog/00000000000000000000", "commitlog/00000000000000001024")


@pytest.fixture
def lakehouse(tmp_path: Path) -> Lakehouse:
    """A lake as an ingest leaves it: two CommitLog files, one of them damaged; the file list; lag without rows."""
    config = tmp_path / "rocketlens.toml"
    config.write_text(f'[[broker]]\nname = "a"\nstore = {json.dumps(str(tmp_path / "store"))}\n')
    lakehouse = Lakehouse(config_file=str(config))
    put_regions(lakehouse, "messages")
    lake = lakehouse.lake()
    put(lake, "store_files", *({"broker": "a", "file": file, "kind": "commitlog", "size": 1024} for file in FILES))
    put(lake, "lag")
    return lakehouse


def put_regions(lakehouse: Lakehouse, kind: str) -> None:
    rows = [{"broker": "a", "file": file, "file_pos": 0, "length": 1024} for file in FILES]
    put(lakehouse.lake(), "commitlog_regions", {**rows[0], "kind": "messages"}, {**rows[1], "kind": kind})


@pytest.fixture
def instance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dg.DagsterInstance]:
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    with instance_of(tmp_path / "lake") as instance:
        yield instance


def told(instance: dg.DagsterInstance, asset: str) -> int:
    """How many materializations of an asset Dagster knows of."""
    return len(instance.fetch_materializations(dg.AssetKey(asset), limit=100).records)


def passed(instance: dg.DagsterInstance, asset: str, check: str) -> bool:
    key = dg.AssetCheckKey(dg.AssetKey(asset), check)
    record = instance.get_latest_asset_check_evaluation_record(key)
    assert record is not None
    assert record.event is not None
    assert record.event.asset_check_evaluation is not None
    return record.event.asset_check_evaluation.passed


def test_every_asset_can_be_told_of() -> None:
    keys = defs.resolve_asset_graph().materializable_asset_keys
    assert sorted(ASSETS) == sorted(key.to_user_string() for key in keys)


def test_an_asset_is_told_of_behind_what_it_follows_from() -> None:
    graph = defs.resolve_asset_graph()
    for number, name in enumerate(ASSETS):
        upstream = {key.to_user_string() for key in graph.get(dg.AssetKey(name)).parent_keys}
        assert not upstream & set(ASSETS[number:]), f"Dagster would show {name} as unsynced"


def test_a_lake_has_a_dagster_to_tell_once_its_window_was_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    assert not has_home(tmp_path / "lake")
    with instance_of(tmp_path / "lake"):
        assert has_home(tmp_path / "lake")
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path))
    assert has_home(tmp_path / "another")


def test_what_was_written_is_materialized_and_checked_in_the_instance_that_is_there(
    lakehouse: Lakehouse, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(dg.DagsterInstance, "ephemeral")
    tell_dagster(instance, lakehouse)
    keys = [f"a/{file}" for file in FILES]
    assert instance.get_materialized_partitions(dg.AssetKey("commitlog_regions")) == set(keys)
    assert instance.get_dynamic_partitions("commitlog_file") == keys
    assert instance.get_materialized_partitions(dg.AssetKey("store_files")) == {"a"}
    event = instance.get_latest_materialization_event(dg.AssetKey("store_files"))
    assert event is not None
    assert event.asset_materialization is not None
    assert event.asset_materialization.metadata["dagster/row_count"].value == 2
    assert told(instance, "lag") == 1, "a table without rows was made all the same"
    assert told(instance, "commitlog_messages") == 0, "a table that was not made is not said to be"
    assert passed(instance, "commitlog_regions", "no_damage")


def plotted(instance: dg.DagsterInstance, asset: str) -> list[bool]:
    """Of each materialization of an asset, the newest first: whether it has a plot."""
    records = instance.fetch_materializations(dg.AssetKey(asset), limit=100).records
    told = [record.asset_materialization for record in records]
    return ["plot" in each.metadata for each in told if each is not None]


def test_what_is_plotted_of_a_run_is_plotted_of_an_ingest(lakehouse: Lakehouse, instance: dg.DagsterInstance) -> None:
    lags = [{"broker": "a", "group": group, "topic": "t", "messages_behind": 9, "status": "behind"} for group in "gh"]
    put(lakehouse.lake(), "lag", *lags)
    tell_dagster(instance, lakehouse)
    assert plotted(instance, "commitlog_regions") == [True, False], "the newest event alone, for the log keeps each"
    assert plotted(instance, "lag") == [True]
    assert plotted(instance, "store_files") == [False], "one kind of file is nothing to compare"


def test_every_table_has_its_bars_or_none_on_purpose(lakehouse: Lakehouse) -> None:
    assert sorted(ASSETS) == sorted([*PLOTS, *FILE_PARTITIONS, *NOT_PLOTTED])
    for name in set(ASSETS) - {"commitlog_regions", "store_files", "lag"}:
        assert plot_of(lakehouse.lake(), name) == {}, "asked, and nothing to compare in a table without rows"


def test_what_was_read_and_gave_no_row_is_materialized_too(lakehouse: Lakehouse, instance: dg.DagsterInstance) -> None:
    put(lakehouse.lake(), "commitlog_messages")
    put(lakehouse.lake(), "topic_configs")
    tell_dagster(instance, lakehouse)
    files = instance.get_materialized_partitions(dg.AssetKey("commitlog_messages"))
    assert files == {f"a/{file}" for file in FILES}
    assert instance.get_materialized_partitions(dg.AssetKey("topic_configs")) == {"a"}
    tell_dagster(instance, lakehouse)
    assert told(instance, "topic_configs") == 1


def test_of_a_lake_as_it_was_nothing_is_looked_at(
    lakehouse: Lakehouse, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell_dagster(instance, lakehouse)
    with monkeypatch.context() as patched:
        patched.delattr(ingest_events, "materializations")
        patched.delattr(ingest_events, "evaluations")
        tell_dagster(instance, lakehouse)
    put_regions(lakehouse, "damage")
    monkeypatch.delattr(ingest_events, "evaluations")
    with pytest.raises(NameError):
        tell_dagster(instance, lakehouse)
    monkeypatch.undo()
    tell_dagster(instance, lakehouse)
    assert not passed(instance, "commitlog_regions", "no_damage"), "what was told in part is told again"


def test_only_what_was_written_since_is_told_again(lakehouse: Lakehouse, instance: dg.DagsterInstance) -> None:
    tell_dagster(instance, lakehouse)
    tell_dagster(instance, lakehouse)
    before = [told(instance, name) for name in ("commitlog_regions", "store_files", "lag")]
    assert before == [2, 1, 1]
    put_regions(lakehouse, "damage")
    put(lakehouse.lake(), "lag", {"broker": "a", "group": "g", "topic": "t", "queue_id": 0, "status": "zero"})
    tell_dagster(instance, lakehouse)
    assert [told(instance, name) for name in ("commitlog_regions", "store_files", "lag")] == [4, 1, 2]
    assert not passed(instance, "commitlog_regions", "no_damage")


def test_a_file_that_was_looked_at_without_a_new_part_is_not_told_again(
    lakehouse: Lakehouse, instance: dg.DagsterInstance
) -> None:
    lake, file = lakehouse.lake(), "consumequeue/T/0/00000000000000000000"
    put(lake, "consumequeue_units", {"broker": "a", "file": file, "topic": "T", "queue_id": 0})
    noted = {"broker": "a", "file": file, "tables": ["consumequeue_units"]}
    put(lake, "ingested_files", {**noted, "read_at": datetime(2026, 1, 1, tzinfo=UTC)})
    tell_dagster(instance, lakehouse)
    assert told(instance, "consumequeue_units") == 1
    put(lake, "ingested_files", {**noted, "read_at": datetime.now(UTC) + timedelta(hours=1)})
    tell_dagster(instance, lakehouse)
    assert told(instance, "consumequeue_units") == 1, "what follows from it would be unsynced"
    put(lake, "consumequeue_units", {"broker": "a", "file": file, "topic": "T", "queue_id": 0})
    tell_dagster(instance, lakehouse)
    assert told(instance, "consumequeue_units") == 2
