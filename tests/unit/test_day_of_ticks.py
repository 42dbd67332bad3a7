"""A day of Dagster's daemon over growing stores: its own tick functions, over instants that pass in no time.

The sensor and the schedule are asked through the daemon's code, with runs kept in Dagster's own store; what they ask
for is carried out here, without Spark's processes.
"""

from __future__ import annotations

import gzip
import json
import logging
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.execution.api import execute_run
from dagster._core.remote_origin import InProcessCodeLocationOrigin
from dagster._core.remote_representation.external import RemoteRepository
from dagster._core.storage.tags import PARTITION_NAME_TAG
from dagster._core.test_utils import MockedRunLauncher, create_test_daemon_workspace_context, freeze_time
from dagster._core.types.loadable_target_origin import LoadableTargetOrigin
from dagster._core.workspace.context import WorkspaceProcessContext
from dagster._core.workspace.load_target import InProcessWorkspaceLoadTarget
from dagster._daemon.sensor import execute_sensor_iteration
from dagster._scheduler.scheduler import launch_scheduled_runs
from dagster._utils.hosted_user_process import recon_job_from_origin

from parsers.commitlog.record.message import decode_message
from pipelines.defs.runs.schedules import config_snapshot_schedule
from pipelines.defs.runs.sensors import store_files_sensor
from pipelines.demo import BUNDLE
from pipelines.lake.lake import Lake
from tests.support.copies import copy_tree
from tests.support.fixtures import unpack_store
from tests.support.plain_spark import plain_spark

LOG = logging.getLogger("dagster.daemon")
QUIET = {
    "run_launcher": {"module": "dagster._core.test_utils", "class": "MockedRunLauncher"},
    "run_coordinator": {"module": "dagster._core.run_coordinator", "class": "DefaultRunCoordinator"},
    "python_logs": {"python_log_level": "ERROR"},
}
BEGIN = datetime(2026, 11, 24, tzinfo=UTC)
LOG_FILE, LOG_BEGIN = "commitlog/00000000000003145728", 3145728
QUEUE = "consumequeue/OrderTopic0/0"
OFFSETS = "config/consumerOffset.json"


@dataclass
class GrowingStore:
    """The last log file of the demo's store as far as its broker has written it, a queue, and its configuration."""

    root: Path
    whole: bytes
    end: int = 0

    @classmethod
    def make(cls, demo: Path, root: Path) -> GrowingStore:
        (root / "commitlog").mkdir(parents=True)
        copy_tree(demo / QUEUE, root / QUEUE)
        copy_tree(demo / "config", root / "config")
        return cls(root, (demo / LOG_FILE).read_bytes())

    def grow(self, messages: int) -> None:
        """Let the broker write the next messages."""
        for _ in range(messages):
            self.end += decode_message(self.whole, self.end).total_size
        (self.root / LOG_FILE).write_bytes(self.whole[: self.end] + bytes(len(self.whole) - self.end))

    def commit_offsets(self, at: datetime) -> None:
        """Let the broker write the offsets of its groups."""
        os.utime(self.root / OFFSETS, (at.timestamp(), at.timestamp()))


@dataclass
class Day:
    """Dagster over the stores `a` and `b`, and its clock. `asked` has every run that was asked for: when, of which job
    and broker."""

    instance: dg.DagsterInstance
    daemon: WorkspaceProcessContext
    stores: dict[str, GrowingStore]
    lake: Lake
    now: datetime = BEGIN
    asked: list[tuple[str, str, str]] = field(default_factory=list)

    @property
    def repository(self) -> RemoteRepository:
        (location,) = self.daemon.create_request_context().code_locations
        (found,) = location.get_repositories().values()
        return found

    @property
    def time(self) -> str:
        return f"{self.now:%H:%M}"

    def begin(self) -> None:
        """Switch sensor and schedule on, and let runs be dated by this clock."""
        runs = self.instance.run_storage
        runs.add_run = lambda run: runs.add_historical_run(run, self.now)  # type: ignore[method-assign]
        with freeze_time(self.now):
            self.instance.start_sensor(self.repository.get_sensor(store_files_sensor.name))
            self.instance.start_schedule(self.repository.get_schedule(config_snapshot_schedule.name))

    def tick(self, minutes: int) -> list[dg.DagsterRun]:
        """Let that time pass, and let the daemon look; the runs that it launched, and that nobody has carried out."""
        self.now += timedelta(minutes=minutes)
        with freeze_time(self.now):
            list(execute_sensor_iteration(self.daemon, LOG, None, None))
            list(launch_scheduled_runs(self.daemon, LOG, self.now, {}))
        launcher = self.instance.run_launcher
        assert isinstance(launcher, MockedRunLauncher)
        runs = sorted(launcher.queue(), key=lambda run: (run.job_name, run.tags[PARTITION_NAME_TAG]))
        launcher.queue().clear()
        for run in runs:
            self.asked.append((self.time, run.job_name, run.tags[PARTITION_NAME_TAG]))
        return runs

    def carry_out(self, runs: Iterable[dg.DagsterRun]) -> None:
        for run in runs:
            assert run.job_code_origin is not None
            assert execute_run(recon_job_from_origin(run.job_code_origin), run, self.instance).success

    def end(self, run: dg.DagsterRun, event: dg.DagsterEventType) -> None:
        """Let a run end without having read anything."""
        self.instance.report_dagster_event(dg.DagsterEvent(event.value, run.job_name), run.run_id)

    def said(self) -> str | None:
        """Why the sensor asked for nothing at its newest tick."""
        sensor = self.repository.get_sensor(store_files_sensor.name)
        (tick,) = self.instance.get_ticks(sensor.get_remote_origin_id(), sensor.selector_id, limit=1)
        return tick.skip_reason

    def counted(self, column: str, table: str) -> dict[str, int]:
        """By broker, how many values a column of the lake has."""
        rows = self.lake.query(f"SELECT broker, count(DISTINCT {column}) AS n FROM {table} GROUP BY broker")
        return {row["broker"]: row["n"] for row in rows.to_pylist()}


@pytest.fixture
def day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Day]:
    demo, home, lake = unpack_store(BUNDLE, tmp_path / "demo"), tmp_path / "home", tmp_path / "lake"
    stores = {name: GrowingStore.make(demo, tmp_path / name) for name in ("a", "b")}
    config = tmp_path / "rocketlens.toml"
    config.write_text(
        f"[lake]\npath = {json.dumps(str(lake))}\n"
        + "".join(f'[[broker]]\nname = "{name}"\nstore = {json.dumps(str(its.root))}\n' for name, its in stores.items())
    )
    home.mkdir()
    monkeypatch.setenv("ROCKETLENS_CONFIG", str(config))
    monkeypatch.setattr("pipelines.spark.session.spark_session", plain_spark)
    defs = LoadableTargetOrigin(executable_path=sys.executable, module_name="pipelines.definitions", attribute="defs")
    target = InProcessWorkspaceLoadTarget(InProcessCodeLocationOrigin(defs, location_name="rocketlens"))
    with ExitStack() as open_until_end:
        instance = open_until_end.enter_context(dg.DagsterInstance.local_temp(str(home), overrides=QUIET))
        daemon = open_until_end.enter_context(create_test_daemon_workspace_context(target, instance))
        yield Day(instance, daemon, stores, Lake(lake))


def messages_before(end: int) -> int:
    """How many messages the broker of the demo's store has in the file up to this byte, as it said itself."""
    with gzip.open(BUNDLE.parent / "truth" / "messages.jsonl.gz", "rt") as told:
        offsets = [json.loads(line)["physicalOffset"] for line in told]
    return sum(LOG_BEGIN <= offset < LOG_BEGIN + end for offset in offsets)


def test_each_file_is_asked_for_until_the_lake_has_it_and_then_no_more(day: Day) -> None:
    """At 02:00 the run of `b` fails; at 10:00 `a` has grown, and its runs are cancelled."""
    a, b = day.stores.values()
    a.grow(5)
    b.grow(7)
    day.begin()
    for minutes in (120, 30, 90, *(120,) * 10):
        if day.time == "08:00":
            a.grow(3)
            a.commit_offsets(day.now)
        runs = {(run.job_name, run.tags[PARTITION_NAME_TAG]): run for run in day.tick(minutes)}
        if day.time == "02:00":
            day.end(runs.pop(("ingest_broker", "b")), dg.DagsterEventType.RUN_FAILURE)
        if day.time == "10:00":
            for run in runs.values():
                day.end(run, dg.DagsterEventType.RUN_CANCELED)
        else:
            day.carry_out(runs.values())
    assert day.now == BEGIN + timedelta(days=1)
    assert day.asked == [
        *[("02:00", job, broker) for job in ("ingest_broker", "snapshot_config") for broker in "ab"],
        ("04:00", "ingest_broker", "b"),
        *[(time, job, "a") for time in ("10:00", "12:00") for job in ("ingest_broker", "snapshot_config")],
    ]
    assert day.said() == "a: nothing has changed; b: nothing has changed"
    files = {f"{broker}/{LOG_FILE}" for broker in "ab"}
    assert day.instance.get_materialized_partitions(dg.AssetKey("commitlog_messages")) == files
    assert day.counted("physical_offset", "commitlog_messages") == {"a": messages_before(a.end), "b": 7}
    assert day.counted("written_at", "offset_snapshots") == {"a": 2, "b": 1}
