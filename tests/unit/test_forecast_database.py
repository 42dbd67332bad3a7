"""A start with queues and tables in RocksDB: what is told, what stays open, what moving there and back does."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from recovery.forecast.document import forecast_document
from recovery.forecast.forecast import forecast
from recovery.knowledge.knowledge import Said, knowledge_of, open_known
from recovery.rules.settings import StoreSettings
from recovery.rules.versions import BrokerVersion
from tests.support.stores import store_root, truth_lines

FILES_TO_DATABASE = {
    "storeType": "defaultRocksDB",
    "mappedFileSizeCommitLog": "1048576",
    "maxHashSlotNum": "500",
    "maxIndexNum": "2000",
}


def told(root: Path, version: str | None = None, settings: dict[str, str] | None = None) -> dict[str, Any]:
    said = Said.read(None if version is None else BrokerVersion.parse(version), None, settings or {})
    store = open_known(root, said)
    return forecast_document(forecast(store, knowledge_of(store, said)))


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    root = tmp_path / "store"
    shutil.copytree(store_root("5.5.0-rocksdb"), root)
    return root


@pytest.mark.parametrize("name", ["5.5.0-rocksdb", "5.3.3-rocksdbv2"])
def test_a_store_in_order_starts_as_it_is_and_nothing_stays_open(name: str) -> None:
    document = told(store_root(name), name[:5])
    ends = {
        (queue["topic"], queue["queue_id"]): queue["max_queue_offset"] for queue in document["after_dispatch"]["queues"]
    }
    real = {(line["topic"], line["queueId"]): line["maxOffset"] for line in truth_lines(name, "queues.jsonl.gz")}
    assert ends == {key: end for key, end in real.items() if end}
    assert (document["redispatched_messages"], document["lost"], document["config"]["lost_counts"]["topics"]) == (
        0,
        [],
        0,
    )
    assert not any("queue" in unknown["what"] or "topics" in unknown["what"] for unknown in document["unknown"])


def test_after_a_crash_all_that_the_database_lost_is_dispatched_again(copy: Path) -> None:
    (copy / "abort").touch()
    shutil.rmtree(copy / "consumequeue")
    document = told(copy, "5.5.1", {"storeType": "defaultRocksDB"})
    assert document["redispatched_messages"] > 350
    assert document["lost"] == []


def test_a_database_that_rocksdb_refuses_stops_the_load(copy: Path) -> None:
    next((copy / "consumequeue").glob("*.sst")).unlink()
    document = told(copy, "5.5.1", {"storeType": "defaultRocksDB"})
    assert not document["load"]["ok"]
    assert "the database of queues cannot be opened" in document["load"]["error"]


def test_a_table_that_rocksdb_refuses_stops_the_broker_before_its_store(copy: Path) -> None:
    (copy / "config" / "topics" / "CURRENT").write_bytes(b"MANIFEST-000099\n")
    document = told(copy, "5.5.1")
    assert (document["config"]["initialize"], document["config"]["refused_by"]) == (False, "config/topics")


def test_a_json_table_that_counts_further_is_loaded_over_the_database(copy: Path) -> None:
    older = '{"dataVersion":{"counter":%d},"topicConfigTable":{"FromJson":{"topicName":"FromJson"}}}'
    files = {file["file"]: file["rows"] for file in told(copy, "5.5.1")["config"]["files"]}
    (copy / "config" / "topics.json").write_text(older % 0)
    same = {file["file"]: file["rows"] for file in told(copy, "5.5.1")["config"]["files"]}
    newer = (older % 10**9).encode().replace(b'"topicName"', b'"\xff":1,"topicName"')  # Java takes any bytes
    (copy / "config" / "topics.json").write_bytes(newer)
    more = {file["file"]: file["rows"] for file in told(copy, "5.5.1")["config"]["files"]}
    assert (same["config/topics"], more["config/topics"]) == (files["config/topics"], files["config/topics"] + 1)


@pytest.mark.parametrize(("version", "missing"), [("5.3.1", "all"), ("5.3.3", "first")])
def test_moving_from_files_in_order_leaves_messages_in_no_queue(version: str, missing: str) -> None:
    """Before 5.3.2 nothing is dispatched after an orderly stop; since then all but the log's first message."""
    root = store_root("5.3.3-clean")
    settings = StoreSettings.from_config(FILES_TO_DATABASE)
    document = told(root, version, FILES_TO_DATABASE)
    lost, dispatched = document["lost_counts"]["queue_unit"], document["redispatched_messages"]
    assert settings.uses_rocksdb_queues
    assert (lost, bool(dispatched)) == (1, True) if missing == "first" else (lost > 100 and dispatched == 0)
    assert any(advice["config"].get("recheckReputOffsetFromCq") == "true" for advice in document["advice"])


def test_writing_both_leaves_open_what_becomes_of_the_other() -> None:
    document = told(store_root("5.3.3-clean"), "5.5.1", {"rocksdbCQDoubleWriteEnable": "true"})
    assert any("the database beside the queue files" in unknown["what"] for unknown in document["unknown"])
