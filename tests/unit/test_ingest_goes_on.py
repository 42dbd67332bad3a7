"""One broker that cannot be read does not hold up the others: it is named, and the next ingest goes on with it."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from parsers.store.store import open_store
from pipelines.ingest import ingest as ingesting
from pipelines.lake.configuration.sources import BrokerSource
from pipelines.lake.delta.errors import NoSpark, WorkFailed
from pipelines.lake.lake import Lake
from pipelines.lake.tables.raw import STORE_FILES
from pipelines.spark import session
from pipelines.spark.sources import queues as queues_source
from tests.support.build_store import shop
from tests.support.cli import Called, call
from tests.support.plain_spark import plain_spark

BROKERS = ("a", "b", "c")
MESSAGES = 8


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(session, "spark_session", plain_spark)
    told = ['[lake]\npath = "lake"\n']
    for name in BROKERS:
        shop(tmp_path / name, MESSAGES).finish()
        told.append(f'[[broker]]\nname = "{name}"\nstore = "{name}"\nversion = "5.3.3"\n')
    (tmp_path / "rocketlens.toml").write_text("".join(told))
    return tmp_path


def ingest(folder: Path) -> Called:
    return call("ingest", "--config-file", str(folder / "rocketlens.toml"), "--format", "jsonl")


def touched(folder: Path) -> None:
    """Every file of the stores looks as if it was written."""
    for path in (path for name in BROKERS for path in (folder / name).rglob("*") if path.is_file()):
        os.utime(path)


def failing(monkeypatch: pytest.MonkeyPatch, failure: Exception) -> list[str]:
    """Reading index files of broker a ends so; the brokers that were read, as they come."""
    met, read = [], ingesting.ingest_files

    def ingest_files(spark: Any, lake: Any, broker: Any, table: Any, *given: Any, **named: Any) -> list[str]:
        met.append(broker.name)
        if (broker.name, table.name) == ("a", "index_entries"):
            raise failure
        return read(spark, lake, broker, table, *given, **named)

    monkeypatch.setattr(ingesting, "ingest_files", ingest_files)
    return met


def told_of(lake: Lake) -> dict[tuple[str, str], int]:
    tables = ("commitlog_messages", "queues", "lag", "recovery_forecast", "ownership_intervals")
    return {(table, name): lake.rows(table, name) for table in tables for name in BROKERS}


def test_a_broker_that_fails_is_named_and_the_others_are_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    well, lake = ingest(folder), Lake(folder / "lake")
    assert well.code in (0, 1)
    before = told_of(lake)
    touched(folder)
    with monkeypatch.context() as broken:
        met = failing(broken, WorkFailed("index_entries: a worker process of Spark died"))
        ended = ingest(folder)
    assert ended.code == 4
    assert "a: index_entries: a worker process of Spark died" in ended.err
    assert set(met) == set(BROKERS)
    assert {row["broker"] for row in ended.rows} == {"b", "c", None}
    assert told_of(lake) == before, "what is told of it stays"
    again = ingest(folder)
    assert again.code == well.code
    assert told_of(lake) == before
    assert "0 files read" in ingest(folder).err


def test_a_first_ingest_that_fails_for_one_tells_of_the_others(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as broken:
        failing(broken, WorkFailed("index_entries: a worker process of Spark died"))
        assert ingest(folder).code == 4
    lake = Lake(folder / "lake")
    assert [lake.rows("recovery_forecast", name) for name in BROKERS] == [0, 1, 1]
    assert ingest(folder).code in (0, 1)
    assert [lake.rows("recovery_forecast", name) for name in BROKERS] == [1, 1, 1]


def test_without_spark_nobody_goes_on(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    met = failing(monkeypatch, NoSpark("index_entries: Spark's Java process has ended"))
    ended = ingest(folder)
    assert ended.code == 3
    assert "Spark's Java process has ended" in ended.err
    assert set(met) == {"a"}


def test_a_wrong_setting_is_told_before_anything_is_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    met = failing(monkeypatch, WorkFailed("not met"))
    config = folder / "rocketlens.toml"
    config.write_text(config.read_text() + '[broker.settings]\nfileReservedTime = "long"\n')
    ended = ingest(folder)
    assert ended.code == 2
    assert "rocketlens: broker 'c': " in ended.err
    assert "fileReservedTime" in ended.err
    config.write_text(config.read_text().partition("[broker.settings]")[0] + 'broker_conf = "gone.conf"\n')
    ended = ingest(folder)
    assert (ended.code, met) == (2, [])
    assert f"rocketlens: broker 'c': {folder / 'gone.conf'}: No such file or directory" in ended.err


def test_a_queue_file_that_a_cleaner_deletes_while_queues_are_summed_up_is_no_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop(tmp_path / "a", MESSAGES).finish()
    broker, store = BrokerSource("a", tmp_path / "a"), open_store(tmp_path / "a")
    listed, gone = queues_source.queue_files, iter([tmp_path / "a/consumequeue/gone"])

    def with_one_that_is_gone(root: Path, first: Any) -> list[Any]:
        files = listed(root, first)
        return [*(replace(files[0], path=path) for path in gone), *files]

    monkeypatch.setattr(queues_source, "queue_files", with_one_that_is_gone)
    lake = Lake(tmp_path / "lake")
    assert ingesting.ingest_queues(plain_spark(), lake, broker, store) == []
    assert next(gone, None) is None, "it was met"
    assert lake.rows("queues", "a") == len(store.queues)


def test_a_file_of_config_that_takes_its_place_meanwhile_is_no_fault(tmp_path: Path) -> None:
    shop(tmp_path / "a", MESSAGES).finish()
    (tmp_path / "a/config").mkdir(exist_ok=True)
    broker, lake, gone = BrokerSource("a", tmp_path / "a"), Lake(tmp_path / "lake"), ["config/timermetrics.tmp"]
    assert ingesting.ingest_files(plain_spark(), lake, broker, STORE_FILES, gone) == []
    (told,) = ingesting.ingest_files(plain_spark(), lake, broker, STORE_FILES, ["config/timermetrics"])
    assert told.startswith("config/timermetrics: ")
