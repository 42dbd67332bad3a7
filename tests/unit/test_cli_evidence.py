"""Every command leaves the store it reads as it was: content, times, listing; on a copy that nobody may write to."""

from __future__ import annotations

import gc
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from parsers.checkpoints.epochs import Epoch, encode_epochs
from pipelines.cli.docs import leaves
from rocketlens import bundle, bundled_store
from tests.support.cli import call
from tests.support.copies import copy_tree
from tests.support.evidence import close, listen, opened_for_writing, state, unlock
from tests.support.stores import store_root

STORES = ("5.3.3-propcrc", "4.9.7-dledger")
CALLS: dict[str, list[str]] = {
    "explain": ["{store}/checkpoint"],
    "queues": ["{store}"],
    "topics": ["{store}"],
    "lives": ["{store}"],
    "groups": ["{store}"],
    "find": ["{store}", "--message-id", "{message_id}"],
    "offset-at": ["{store}", "--topic", "Small", "--queue", "0", "--at", "1795273632813"],
    "lag": ["{store}"],
    "watch": ["{store}", "--times", "1"],
    "episodes": ["{orders}", "--offsets", "{kept}", "--least", "1"],
    "backlog": ["{store}"],
    "ledger": ["{store}"],
    "offsets": ["{store}"],
    "delays": ["{store}", "--messages"],
    "compaction": ["{store}"],
    "tiered": ["{store}", "--segments", "{store}"],
    "retries": ["{store}"],
    "transactions": ["{store}"],
    "pop": ["{store}"],
    "traces": ["{store}"],
    "start-at": ["{store}", "--topic", "Small"],
    "init": ["{store}", "--to", "{out}/drafted.toml"],
    "verify": ["{store}", "--deep", "--explained"],
    "rebuild": ["{store}", "--to", "{out}/rebuilt"],
    "forecast": ["{store}"],
    "upgrade": ["{store}", "--to", "5.5.0"],
    "compare": ["{store}", "{store}"],
    "retention": ["{store}"],
    "who": ["{store}", "--message-id", "{message_id}"],
    "report": ["{store}", "--out", "{out}/report.html"],
    "dump dledger": ["{store}"],
    "dump commitlog": ["{store}", "--bodies", "--out", "{out}/messages.parquet"],
    "dump regions": ["{store}"],
    "dump compaction": ["{store}"],
    "dump consumequeue": ["{store}"],
    "dump index": ["{store}"],
    "dump checkpoint": ["{store}"],
    "dump epochs": ["{store}"],
    "dump timer": ["{store}"],
    "dump rocksdbstore": ["{store}"],
    "dump config": ["{store}"],
}
MAY_HAVE_NO_ROWS = {
    "dump timer",
    "dump rocksdbstore",
    "dump dledger",
    "dump compaction",
    "compaction",
    "tiered",
    "offsets",
    "retries",
    "transactions",
    "pop",
    "traces",
}
NO_STORE = {"allocate", "docs", "replay", "what-if", "sql", "tables", "check-lake", "vacuum", "completion"}
"""Commands that read no store."""
OTHER_PROGRAMS = {"ui", "lab", "cluster"}
THROUGH_SPARK = {"demo", "ingest"}
"""Held to the same by tests/e2e/test_ingest.py."""


@pytest.fixture(scope="module", params=STORES)
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    root = tmp_path_factory.mktemp("evidence") / "store"
    copy_tree(store_root(request.param), root)
    (root / "epochFileCheckpoint").write_bytes(encode_epochs([Epoch(1, 0)]))
    others = root.with_name("orders"), root.with_name("kept")
    for source, copy in zip(
        (bundled_store("orders-cluster"), bundle("orders-cluster") / "offsets"), others, strict=True
    ):
        copy_tree(source, copy)
    for place in (root, *others):
        close(place)
    yield root
    for place in (root, *others):
        unlock(place)


def test_no_command_is_forgotten() -> None:
    assert set(leaves()) == set(CALLS) | NO_STORE | OTHER_PROGRAMS | THROUGH_SPARK


@pytest.mark.parametrize("name", CALLS)
def test_the_store_is_left_as_it_was(name: str, store: Path, tmp_path: Path) -> None:
    message_id = call("dump", "commitlog", store, "--columns", "message_id", "--limit", "1").rows[0]["message_id"]
    read = {"store": store, "orders": store.with_name("orders"), "kept": store.with_name("kept")}
    places = read | {"out": tmp_path, "message_id": message_id}
    before = [state(place) for place in read.values()]
    with listen() as opened:
        called = call(*name.split(), *(part.format(**places) for part in CALLS[name]))
    assert called.code in (0, 1), called.err
    assert called.out or any(tmp_path.iterdir()) or name in MAY_HAVE_NO_ROWS
    assert [state(place) for place in read.values()] == before
    assert [opened_for_writing(opened, place) for place in read.values()] == [[], [], []]


IN_DATABASES = ("queues", "offset-at", "lag", "verify", "who", "dump consumequeue", "dump config", "dump rocksdbstore")
"""Commands that open a store's RocksDB databases."""


@pytest.mark.parametrize("name", IN_DATABASES)
def test_databases_are_left_as_they_were(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root, temporary = tmp_path / "store", tmp_path / "temporary"
    copy_tree(store_root("5.5.0-rocksdb"), root)
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    close(root)
    before = state(root)
    message_id = call("dump", "commitlog", root, "--columns", "message_id", "--limit", "1").rows[0]["message_id"]
    called = call(*name.split(), *(part.format(store=root, message_id=message_id) for part in CALLS[name]))
    assert called.code == 0, called.err
    assert called.out or name in ("verify", "dump rocksdbstore")
    assert state(root) == before
    gc.collect()
    assert list(temporary.iterdir()) == []
    unlock(root)


@pytest.mark.parametrize("name", sorted(CALLS))
def test_no_output_goes_into_the_store(name: str, store: Path, tmp_path: Path) -> None:
    places = {"store": store, "orders": store, "kept": store / "config", "out": tmp_path, "message_id": "00"}
    given = [part.format(**places) for part in CALLS[name]]
    if "--out" in given:
        place = given.index("--out")
        del given[place : place + 2]
    called = call(*name.split(), *given, "--out", store / "config" / "x.jsonl")
    assert called.code == 2
    assert "never written to" in called.err


def test_beside_a_copied_file_is_no_store(store: Path, tmp_path: Path) -> None:
    shutil.copyfile(store / "checkpoint", tmp_path / "checkpoint")
    target = tmp_path / "fields.jsonl"
    assert call("dump", "checkpoint", tmp_path / "checkpoint", "--out", target).code == 0
    assert target.exists()
