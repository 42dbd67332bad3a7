"""A start over what is not read here: nothing is called lost that nobody looked at."""

from __future__ import annotations

from pathlib import Path

import pytest

from recovery.forecast.document import forecast_document
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
    assert set(forecast_document(answer)["lost_counts"].values()) == {None}


@pytest.mark.parametrize("member", ["1", "2"])
def test_of_a_store_with_epochs_the_mode_decides_what_is_dispatched(member: str) -> None:
    """In controller mode another place of the log counts as confirmed than without."""
    root = store_root(f"5.3.3-autoswitch/{member}")
    unsaid, said = (
        forecast(*opened(root, "5.3.3", config=config)) for config in ({}, {"enableControllerMode": "true"})
    )
    offsets = [each.played.memory.confirmed_offset() for each in (unsaid, said)]
    assert offsets[0] != offsets[1]
    assert any("enableControllerMode" in unknown.why for unknown in unsaid.unknown)
    assert "the confirmed offset" in {unknown.what for unknown in said.unknown}


def test_a_rebuild_of_queues_in_a_database_says_what_its_files_are_for(tmp_path: Path) -> None:
    report = rebuild(*opened(store_root("5.5.0-rocksdb")), tmp_path / "rebuilt")
    assert report.units == 355
    assert "storeType=default" in report.differences[0]
