"""A start over what is not read here: nothing is called lost that nobody looked at."""

from __future__ import annotations

from pathlib import Path

import pytest

from parsers.store import open_store
from recovery.forecast import forecast
from recovery.settings import StoreSettings
from tests.support.fixtures import FIXTURES, GOLDEN, needs_fixtures, unpack_store

SMALL = StoreSettings.from_config(
    {
        "mappedFileSizeCommitLog": "1048576",
        "mappedFileSizeConsumeQueue": "6000",
        "maxHashSlotNum": "500",
        "maxIndexNum": "2000",
    }
)


def test_batch_queues_that_are_not_replayed_lose_nothing(tmp_path: Path) -> None:
    root = unpack_store(GOLDEN / "stores" / "5.3.3-batchcq" / "store.tar.gz", tmp_path)
    answer = forecast(open_store(root), "5.3.3", SMALL)
    assert list(answer.lost) == []
    assert "what becomes of batchconsumequeue/" in {unknown.what for unknown in answer.unknown}


@pytest.mark.fixtures
@needs_fixtures
def test_what_a_dledger_loses_is_unknown(tmp_path: Path) -> None:
    root = unpack_store(FIXTURES / "stores" / "4.9.7-dledger" / "store.tar.gz", tmp_path)
    answer = forecast(open_store(root), "4.9.8", SMALL)
    assert list(answer.lost) == []
    assert "what is lost" in {unknown.what for unknown in answer.unknown}
