"""Searches by time at the edges of a queue."""

from __future__ import annotations

import tarfile
from pathlib import Path

from parsers.consumequeue.summary import summarize_queue
from parsers.store.store import open_store
from pipelines.notebook.bundles import extract_all
from recovery.knowledge.knowledge import Said, knowledge_of
from recovery.query.query import StoreQuery, TimeQuestion
from recovery.rules.versions import BrokerVersion
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
    query = StoreQuery(store, knowledge_of(store, Said(BrokerVersion(5, 3, 3))))
    assert query.offset_at(TimeQuestion("TopicA", 0, LONG_AGO_MS, "upper")) == minimum
