"""useSeparateStorePathForRocksdbCQ (5.5.0): the database of queues in consumequeue_rocksdb/, of a real broker.

How a start takes it is recorded: `q551a` in test_database_starts.py.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from parsers.queues.store_queues import StoreQueues
from parsers.store.places import SECOND_DATABASE
from recovery.forecast.forecast import forecast
from recovery.verify.verify import verify
from tests.support.copies import copy_tree
from tests.support.opened import opened
from tests.support.stores import store_names, store_root

NAMES = store_names("rocksdb", subject="queues")
APART = "consumequeue_rocksdb"


@pytest.fixture(params=NAMES)
def apart(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    root = tmp_path / "store"
    copy_tree(store_root(request.param), root)
    (root / "consumequeue").rename(root / APART)
    return root


def test_it_is_the_database_of_the_stores_queues(apart: Path) -> None:
    store, known = opened(apart)
    assert store.queue_database is not None
    assert store.queue_database.path.name == APART
    assert APART not in {file.path.parent.name for file in store.not_understood}
    with StoreQueues(store) as queues:
        assert len(queues) > 5
    assert known.settings.use_separate_store_path_for_rocksdb_cq
    assert verify(store, known).findings == ()
    told = forecast(store, known)
    assert told.outcome.starts
    assert not told.has_loss


def test_a_finding_is_in_that_folder(apart: Path) -> None:
    for table in (apart / APART).glob("*.sst"):
        table.write_bytes(table.read_bytes()[:100])
    findings = verify(*opened(apart)).findings
    assert findings
    assert {place.file.partition("/")[0] for found in findings for place in found.places} == {APART}


def test_a_second_database_stops_the_broker_and_is_named(apart: Path) -> None:
    copy_tree(apart / APART, apart / "consumequeue")
    store, known = opened(apart, version="5.5.0", config={"storeType": "defaultRocksDB"})
    assert store.queue_database is not None
    assert store.queue_database.path.name == "consumequeue"
    assert {file.path.parent.name for file in store.not_understood if file.why == SECOND_DATABASE} == {APART}
    told = forecast(store, known)
    assert "another folder" in ((told.played.load_error and told.played.load_error.rule) or "")
    assert (told.outcome.lost_config, told.outcome.destroyed_config, told.played.abort_after) == (0, 0, False)


def test_a_broker_that_does_not_have_the_setting_makes_a_new_database(apart: Path) -> None:
    told = forecast(*opened(apart, version="5.4.0"))
    assert told.played.memory.database is not None
    assert told.played.memory.database.table is None
    assert told.has_loss
