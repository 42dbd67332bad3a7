"""A start over what is not read here: nothing is called lost that nobody looked at."""

from __future__ import annotations

from pathlib import Path

from recovery.forecast.forecast import forecast
from recovery.rebuild.rebuild import rebuild
from recovery.rules.settings import StoreSettings
from tests.support.opened import opened
from tests.support.stores import store_root

SMALL = StoreSettings.from_config(
    {
        "mappedFileSizeCommitLog": "1048576",
        "mappedFileSizeConsumeQueue": "6000",
        "maxHashSlotNum": "500",
        "maxIndexNum": "2000",
    }
)


def test_batch_queues_that_are_not_replayed_lose_nothing() -> None:
    answer = forecast(*opened(store_root("5.3.3-batchcq"), "5.3.3", SMALL))
    assert list(answer.lost) == []
    assert "what becomes of batchconsumequeue/" in {unknown.what for unknown in answer.unknown}


def test_what_a_dledger_loses_is_unknown() -> None:
    answer = forecast(*opened(store_root("4.9.7-dledger"), "4.9.8", SMALL))
    assert list(answer.lost) == []
    assert "what is lost" in {unknown.what for unknown in answer.unknown}


def test_a_rebuild_of_queues_in_a_database_says_what_its_files_are_for(tmp_path: Path) -> None:
    report = rebuild(*opened(store_root("5.5.0-rocksdb")), tmp_path / "rebuilt")
    assert report.units == 355
    assert "storeType=default" in report.differences[0]
