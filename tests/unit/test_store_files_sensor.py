"""The sensor asks for one run of each broker whose files the lake lacks, for nothing that it has, and again after a
run that was cancelled."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import dagster as dg
import pytest

from pipelines.definitions import defs
from pipelines.defs.lakehouse import Lakehouse
from pipelines.defs.runs.ingest_job import ingest_broker
from pipelines.defs.runs.sensors import store_files_sensor
from pipelines.demo import BUNDLE
from tests.support.copies import copy_tree
from tests.support.fixtures import unpack_store
from tests.support.plain_spark import plain_spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LAST = "commitlog/00000000000003145728"


class WithoutJava(Lakehouse):
    """A lakehouse whose Spark jobs run here."""

    def spark(self) -> SparkSession:
        return plain_spark()


@pytest.fixture(scope="module")
def demo_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack_store(BUNDLE, tmp_path_factory.mktemp("demo"))


@pytest.fixture
def stores(demo_store: Path, tmp_path: Path) -> dict[str, Path]:
    """Two brokers: the last log file and one queue of the demo's store."""
    found = {name: tmp_path / name for name in ("a", "b")}
    for store in found.values():
        (store / "commitlog").mkdir(parents=True)
        shutil.copy2(demo_store / LAST, store / LAST)
        copy_tree(demo_store / "consumequeue/OrderTopic0/0", store / "consumequeue/OrderTopic0/0")
    return found


@pytest.fixture
def lakehouse(stores: dict[str, Path], tmp_path: Path) -> Lakehouse:
    config = tmp_path / "rocketlens.toml"
    brokers = [f'[[broker]]\nname = "{name}"\nstore = {json.dumps(str(store))}\n' for name, store in stores.items()]
    config.write_text("\n".join(brokers))
    return WithoutJava(config_file=str(config))


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral(str(tmp_path)) as local:
        yield local


def tick(instance: dg.DagsterInstance, lakehouse: Lakehouse) -> dict[str, dg.RunRequest] | str:
    """The runs that are asked for, by broker; or why there are none. New partitions are added, as the daemon does."""
    with dg.build_sensor_context(instance=instance, resources={"lakehouse": lakehouse}, definitions=defs) as context:
        result = store_files_sensor(context)
    if isinstance(result, dg.SkipReason):
        return str(result.skip_message)
    assert isinstance(result, dg.SensorResult)
    for request in result.dynamic_partitions_requests or ():
        instance.add_dynamic_partitions(request.partitions_def_name, list(request.partition_keys))
    return {str(run.partition_key): run for run in result.run_requests or ()}


def launched(instance: dg.DagsterInstance, request: dg.RunRequest, status: dg.DagsterRunStatus) -> None:
    """A run as the daemon makes it of a request, that came as far as this and read nothing."""
    tags = {**request.tags, "dagster/partition": str(request.partition_key)}
    instance.create_run_for_job(ingest_broker, tags=tags, status=status)


def carried_out(instance: dg.DagsterInstance, lakehouse: Lakehouse, request: dg.RunRequest) -> None:
    done = ingest_broker.execute_in_process(
        instance=instance,
        partition_key=request.partition_key,
        tags=dict(request.tags),
        resources={"lakehouse": lakehouse},
    )
    assert done.success


def test_one_run_for_each_broker_and_none_for_what_the_lake_has(
    lakehouse: Lakehouse, instance: dg.DagsterInstance, stores: dict[str, Path]
) -> None:
    asked = tick(instance, lakehouse)
    assert isinstance(asked, dict)
    assert set(asked) == {"a", "b"}
    for request in asked.values():
        carried_out(instance, lakehouse, request)
    assert tick(instance, lakehouse) == "a: nothing has changed; b: nothing has changed"
    files = {
        f"{name}/{path.relative_to(store)}" for name, store in stores.items() for path in store.glob("commitlog/*")
    }
    assert instance.get_materialized_partitions(dg.AssetKey("commitlog_messages")) == files
    last = instance.get_latest_materialization_event(dg.AssetKey("store_files"))
    assert last is not None
    assert last.run_id == instance.get_runs(limit=1)[0].run_id, "what was written is told as of the run that wrote it"
    checked = dg.AssetCheckKey(dg.AssetKey("commitlog_regions"), "no_damage")
    assert instance.get_latest_asset_check_evaluation_record(checked) is not None


def test_a_grown_file_is_asked_for_again(
    lakehouse: Lakehouse, instance: dg.DagsterInstance, stores: dict[str, Path]
) -> None:
    asked = tick(instance, lakehouse)
    assert isinstance(asked, dict)
    for request in asked.values():
        carried_out(instance, lakehouse, request)
    grown = stores["b"] / LAST
    os.utime(grown, ns=(0, grown.stat().st_mtime_ns + 1))
    (stores["b"] / "commitlog" / "00000000000004194304").write_bytes(bytes(1024))
    again = tick(instance, lakehouse)
    assert isinstance(again, dict)
    assert set(again) == {"b"}


@pytest.mark.parametrize(
    ("status", "answer"),
    [
        (dg.DagsterRunStatus.STARTING, "a run is under way"),
        (dg.DagsterRunStatus.STARTED, "a run is under way"),
        (dg.DagsterRunStatus.FAILURE, "tried these files"),
        (dg.DagsterRunStatus.SUCCESS, "tried these files"),
    ],
)
def test_it_does_not_ask_twice_for_the_same(
    lakehouse: Lakehouse, instance: dg.DagsterInstance, status: dg.DagsterRunStatus, answer: str
) -> None:
    asked = tick(instance, lakehouse)
    assert isinstance(asked, dict)
    for request in asked.values():
        launched(instance, request, status)
    assert answer in str(tick(instance, lakehouse))


def test_what_a_cancelled_run_left_is_asked_for_again(lakehouse: Lakehouse, instance: dg.DagsterInstance) -> None:
    asked = tick(instance, lakehouse)
    assert isinstance(asked, dict)
    for request in asked.values():
        launched(instance, request, dg.DagsterRunStatus.CANCELED)
    again = tick(instance, lakehouse)
    assert isinstance(again, dict)
    assert set(again) == {"a", "b"}


def test_what_failed_is_asked_for_again_once_it_is_another_file(
    lakehouse: Lakehouse, instance: dg.DagsterInstance, stores: dict[str, Path]
) -> None:
    asked = tick(instance, lakehouse)
    assert isinstance(asked, dict)
    for request in asked.values():
        launched(instance, request, dg.DagsterRunStatus.FAILURE)
    grown = stores["a"] / LAST
    os.utime(grown, ns=(0, grown.stat().st_mtime_ns + 1))
    again = tick(instance, lakehouse)
    assert isinstance(again, dict)
    assert set(again) == {"a"}


def test_a_store_that_is_gone_is_said_and_the_others_are_read(
    lakehouse: Lakehouse, instance: dg.DagsterInstance, stores: dict[str, Path]
) -> None:
    stores["a"].rename(stores["a"].with_name("moved"))
    asked = tick(instance, lakehouse)
    assert isinstance(asked, dict)
    assert set(asked) == {"b"}
    launched(instance, asked["b"], dg.DagsterRunStatus.STARTED)
    assert "a: " in str(tick(instance, lakehouse))
    assert "no such folder" in str(tick(instance, lakehouse))


def test_loading_the_code_location_imports_nothing_heavy() -> None:
    import subprocess
    import sys

    heavy = "('pyspark', 'pandas', 'matplotlib', 'dpkt', 'parsers.kernels.kernel')"
    program = f"import sys, pipelines.definitions; print([m for m in {heavy} if m in sys.modules])"
    found = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
