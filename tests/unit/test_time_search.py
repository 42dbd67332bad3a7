"""Searches by time at the edges of a queue, and where store times cannot be read."""

from __future__ import annotations

import tarfile
from pathlib import Path

from parsers.consumequeue.summary import summarize_queue
from parsers.store import open_store
from pipelines.bundles import extract_all
from recovery.query import StoreQuery, TimeQuestion
from recovery.versions import BrokerVersion
from tests.support.cli import call, small_store
from tests.support.fixtures import GOLDEN

LONG_AGO_MS = 1


def test_a_search_stays_between_the_queues_minimum_and_maximum(tmp_path: Path) -> None:
    """Java's `upper` finds 0 before the first message; the store then takes the minimum (since 5.0.0)."""
    with tarfile.open(GOLDEN / "recovery" / "bases" / "s533-clean.tar.gz") as tar:
        extract_all(tar, tmp_path)
    min((tmp_path / "commitlog").iterdir()).unlink()
    store = open_store(tmp_path)
    files = store.queues["TopicA", 0]
    minimum = summarize_queue(files, commitlog_min=store.commitlog[0].base_offset or 0).min_queue_offset
    assert minimum > 0
    query = StoreQuery(store, BrokerVersion(5, 3, 3))
    assert query.offset_at(TimeQuestion("TopicA", 0, LONG_AGO_MS, "upper")) == minimum


def test_store_times_in_a_dledger_log_are_unknown(tmp_path: Path) -> None:
    root = small_store(tmp_path)
    entries = root / "dledger-n0" / "data" / f"{0:020d}"
    entries.parent.mkdir(parents=True)
    entries.write_bytes(bytes(100))
    question = b'{"topic": "Orders", "queue_id": 0, "at": 1}\n'
    called = call("offset-at", root, "--batch", "--quiet", stdin=question)
    assert called.rows == [{"topic": "Orders", "queue_id": 0, "at": 1, "queue_offset": None}]
    assert called.code == 4
    assert "DLedger log" in called.err
