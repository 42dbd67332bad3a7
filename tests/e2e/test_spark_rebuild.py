"""Queues and indexes of several brokers rebuilt as one Spark job: the files and the report of the local rebuild."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from parsers.commitlog.record.message import encode_message
from parsers.store.store import Store, open_store
from pipelines.spark.jobs.rebuild import rebuild_with_spark
from recovery.knowledge.knowledge import knowledge_of
from recovery.rebuild.rebuild import rebuild
from recovery.rebuild.report import RebuildReport
from tests.support.build_store import StoreBuilder, overwrite, shop
from tests.support.new_message import new_message
from tests.support.stores import store_root

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
BROKERS = {"light": "5.3.3-lmq", "batches": "5.3.3-batchcq"}


def contents(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def locally(stores: dict[str, Store], to: Path) -> dict[str, RebuildReport]:
    return {name: rebuild(store, knowledge_of(store), to / name) for name, store in stores.items()}


def test_files_and_report_are_the_local_rebuilds_however_logs_are_cut(spark: SparkSession, tmp_path: Path) -> None:
    stores = {name: open_store(store_root(kind)) for name, kind in BROKERS.items()}
    expected = locally(stores, tmp_path / "local")
    files = contents(tmp_path / "local")
    assert {path.split("/")[1] for path in files} == {"consumequeue", "batchconsumequeue", "index"}
    file_bytes = max(file.size for store in stores.values() for file in store.commitlog)
    for pieces in (1, 2, 3):
        to = tmp_path / f"cut-{pieces}"
        reports = rebuild_with_spark(spark, stores, to, split_bytes=-(-file_bytes // pieces))
        assert contents(to) == files, pieces
        assert reports == {name: replace(report, to=to / name) for name, report in expected.items()}, pieces


def test_damage_and_a_record_inside_a_record_change_nothing(spark: SparkSession, tmp_path: Path) -> None:
    damaged = shop(tmp_path / "damaged")
    hurt = damaged.records[4]
    overwrite(damaged.root / "commitlog" / f"{0:020d}", hurt.physical_offset + 4, b"\0\0\0\1")
    stores = {"damaged": open_store(damaged.root), "nested": open_store(with_a_record_in_a_record(tmp_path / "nested"))}
    expected = locally(stores, tmp_path / "local")
    assert (len(expected["damaged"].gaps), expected["nested"].records) == (1, 2)
    reports = rebuild_with_spark(spark, stores, tmp_path / "new", split_bytes=600)
    assert contents(tmp_path / "new") == contents(tmp_path / "local")
    assert reports == {name: replace(report, to=tmp_path / "new" / name) for name, report in expected.items()}


def with_a_record_in_a_record(root: Path) -> Path:
    """The first record's properties hold a whole record of the very place where it lies, behind byte 600."""
    builder = StoreBuilder(root)
    outer = builder.put(properties=(("PAD", "." * 1200),))
    builder.put()
    inner = replace(new_message("Never", b"sent", queue_id=0), physical_offset=outer.physical_offset + 700)
    overwrite(root / "commitlog" / f"{0:020d}", inner.physical_offset, encode_message(inner))
    return root


def test_a_failure_leaves_nothing_behind(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_store(shop(tmp_path / "store", 5).root)
    for names in ((), ("a", "../b")):
        with pytest.raises(ValueError, match="names of folders"):
            rebuild_with_spark(spark, dict.fromkeys(names, store), tmp_path / "new")
    monkeypatch.setattr("pipelines.spark.jobs.rebuild.living_report", lambda *given: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        rebuild_with_spark(spark, {"a": store}, tmp_path / "new")
    assert [path.name for path in tmp_path.iterdir()] == ["store"]
