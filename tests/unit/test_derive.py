"""What makes a derived table stale besides a file that has changed: the clock, and what could not be read."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from parsers.values.topics import SCHEDULE_TOPIC
from pipelines.answers.derived import store_rows
from pipelines.ingest import derive as deriving
from pipelines.ingest import ingest as ingesting
from pipelines.ingest.derive import derive
from pipelines.ingest.ingest import IngestReport, ingest_store
from pipelines.lake.configuration.sources import BrokerSource, Sources
from pipelines.lake.lake import Lake
from pipelines.lake.tables.raw import TABLES
from pipelines.spark.transfer import SliceWork
from tests.support.build_store import shop
from tests.support.plain_spark import plain_spark

HOUR = datetime(2026, 11, 23, 9, tzinfo=UTC)


def of(tmp_path: Path, store: Path, logs: Path | None = None) -> Sources:
    return Sources(tmp_path / "lake", (BrokerSource("b", store, version="5.3.3", logs=logs),))


def ingested(sources: Sources) -> IngestReport:
    report = IngestReport()
    ingest_store(plain_spark(), Lake(sources.lake), sources.brokers[0], report)
    return report


def made(sources: Sources) -> list[str]:
    """The tables that are made now."""
    told: list[str] = []
    derive(plain_spark(), sources, told.append)
    return told


@pytest.mark.parametrize("waits", [True, False])
def test_what_the_cleaner_takes_first_is_told_anew_in_another_hour(
    waits: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hours = [HOUR]
    for module in (deriving, store_rows):
        monkeypatch.setattr(module, "hour_of", lambda now: hours[-1])
    store = shop(tmp_path / "store", 8)
    if waits:
        delayed = (("REAL_TOPIC", "Orders"), ("REAL_QID", "0"), ("DELAY", "3"), ("UNIQ_KEY", "W"))
        store.put(SCHEDULE_TOPIC, 2, properties=delayed)
    sources = of(tmp_path, store.finish())
    ingested(sources)
    made(sources)
    assert made(sources) == []
    hours.append(HOUR + timedelta(hours=1))
    assert made(sources) == (["retention_risk", "delayed_messages"] if waits else ["retention_risk"])
    assert made(sources) == []


def test_what_was_made_while_a_queue_was_gone_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The queue comes back as it was, so that no file tells that anything has changed."""
    store = shop(tmp_path / "store", 8).finish()
    sources, queue, aside = of(tmp_path, store), store / "consumequeue/Orders", tmp_path / "aside"
    slices = ingesting.slices_of

    def without(source: BrokerSource, table: str, *given: Any) -> list[SliceWork]:
        if table == "queues":
            queue.rename(aside)
        return slices(source, table, *given)

    with monkeypatch.context() as broken:
        broken.setattr(ingesting, "slices_of", without)
        assert ingested(sources).unread
    made(sources)
    aside.rename(queue)
    assert ingested(sources).unread == []
    assert {"consistency_findings", "lag", "lag_history", "lag_episodes"} <= set(made(sources))
    assert made(sources) == []


@pytest.mark.parametrize(
    ("table", "file"),
    [
        ("commitlog_messages", "commitlog/00000000000000000000"),
        ("consumequeue_units", "consumequeue/Orders/0/00000000000000000000"),
        ("queues", "consumequeue/Orders/0/00000000000000000000"),
    ],
)
def test_what_was_read_of_a_file_that_was_cut_is_read_again(
    table: str, file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file comes back when the ingest has ended, with its old size and times."""
    store = shop(tmp_path / "store", 8).finish()
    sources, path, slices = of(tmp_path, store), store / file, ingesting.slices_of
    whole, told = path.read_bytes(), path.stat()
    written = len(whole.rstrip(b"\0"))

    def cut(source: BrokerSource, name: str, *given: Any) -> list[SliceWork]:
        if name == table:
            path.write_bytes(whole[: written // 2].ljust(len(whole), b"\0"))
            os.utime(path, ns=(told.st_atime_ns, told.st_mtime_ns))
        return slices(source, name, *given)

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(ingesting, "slices_of", cut)
        ingested(sources)
    assert path.read_bytes() != whole
    path.write_bytes(whole)
    os.utime(path, ns=(told.st_atime_ns, told.st_mtime_ns))
    ingested(sources)
    again = Lake(tmp_path / "again")
    ingest_store(plain_spark(), again, sources.brokers[0], IngestReport())
    asked = (
        f"SELECT * EXCLUDE (watermark) FROM {table} ORDER BY ALL"
        if table == "queues"
        else f"SELECT * FROM {table} ORDER BY ALL"
    )
    assert Lake(sources.lake).query(asked).equals(again.query(asked))


@pytest.mark.parametrize(
    ("cut_before", "back_before"), [("consistency_findings", "offset_events"), ("", "recovery_forecast")]
)
def test_what_was_made_while_a_file_was_cut_is_made_again(
    cut_before: str, back_before: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file comes back with its old size and times: a table made in between looks as if made from the same."""
    store = shop(tmp_path / "store", 8).finish()
    sources, log = of(tmp_path, store), next((store / "commitlog").iterdir())
    whole, told, judge = log.read_bytes(), log.stat(), deriving.judge_brokers

    def cut() -> None:
        log.write_bytes(whole[: len(whole) // 2])

    def between(spark: Any, lake: Lake, table: str, *given: Any, **named: Any) -> int:
        if table == cut_before:
            cut()
        if table == back_before:
            log.write_bytes(whole)
            os.utime(log, ns=(told.st_atime_ns, told.st_mtime_ns))
        return judge(spark, lake, table, *given, **named)

    ingested(sources)
    if not cut_before:
        cut()
    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(deriving, "judge_brokers", between)
        first = made(sources)
    assert log.stat().st_mtime_ns == told.st_mtime_ns
    assert made(sources) == first
    assert made(sources) == []


def test_episodes_are_told_anew_where_not_all_logs_could_be_read(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "broker.log.gz").write_bytes(b"\x1f\x8bbroken")
    sources = of(tmp_path, shop(tmp_path / "store", 8).finish(), logs)
    ingested(sources)
    assert derive(plain_spark(), sources).problems
    assert "lag_episodes" in made(sources)


@pytest.mark.parametrize(("table", "column"), [("recovery_forecast", "starts"), ("backlog", "stands_since")])
def test_what_was_made_before_a_column_was_added_is_made_again(
    table: str, column: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No store has changed, and the version of rocketlens need not be another one."""
    monkeypatch.setattr(deriving, "hour_of", lambda now: HOUR)
    sources, declared = of(tmp_path, shop(tmp_path / "store", 8).finish()), TABLES[table]
    fewer = tuple(each for each in declared.columns if each.name != column)
    ingested(sources)
    made(sources)
    monkeypatch.setitem(TABLES, table, replace(declared, columns=fewer))
    made(sources)
    monkeypatch.setitem(TABLES, table, declared)
    assert made(sources) == [table]
    assert made(sources) == []


def test_the_queues_of_a_broker_are_summed_up_again_once_their_table_has_a_column_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = of(tmp_path, shop(tmp_path / "store", 8).finish())
    lake, declared = Lake(sources.lake), TABLES["queues"]
    fewer = tuple(column for column in declared.columns if column.name != "pre_blanks")
    with monkeypatch.context() as before:
        before.setitem(TABLES, "queues", replace(declared, columns=fewer))
        ingested(sources)
    assert lake.query("SELECT pre_blanks FROM queues")["pre_blanks"].unique().to_pylist() == [None]
    ingested(sources)
    assert lake.query("SELECT pre_blanks FROM queues")["pre_blanks"].unique().to_pylist() == [0]
