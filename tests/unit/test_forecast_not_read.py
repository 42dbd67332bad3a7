"""A start over what is not read here: nothing is called lost that nobody looked at."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pipelines.cli.commands.broker.forecast_words import in_words
from recovery.forecast.document import forecast_document
from recovery.forecast.forecast import forecast
from recovery.rebuild.rebuild import rebuild
from recovery.rules.settings import StoreSettings
from tests.support.copies import copy_tree
from tests.support.opened import opened
from tests.support.recovery_cases import database_cases, golden_cases
from tests.support.stores import store_root

SMALL = StoreSettings.from_config(
    {
        "mappedFileSizeCommitLog": "1048576",
        "mappedFileSizeConsumeQueue": "6000",
        "maxHashSlotNum": "500",
        "maxIndexNum": "2000",
    }
)


def test_a_sound_store_with_queues_of_inner_batches_loses_nothing() -> None:
    answer = forecast(*opened(store_root("5.3.3-batchcq"), "5.3.3", SMALL))
    assert list(answer.lost) == []
    assert answer.renumbered == ()
    assert "what becomes of batchconsumequeue/" not in {unknown.what for unknown in answer.unknown}


def test_what_a_dledger_loses_is_unknown() -> None:
    answer = forecast(*opened(store_root("4.9.7-dledger"), "4.9.8", SMALL))
    assert list(answer.lost) == []
    assert "what is lost" in {unknown.what for unknown in answer.unknown}
    assert set(forecast_document(answer)["lost_counts"].values()) == {None}


@pytest.mark.parametrize("member", ["1", "2"])
def test_of_a_store_with_epochs_the_mode_decides_what_is_dispatched(member: str) -> None:
    """In controller mode another place of the log counts as confirmed than without."""
    root = store_root(f"5.3.3-autoswitch/{member}")
    unheard, said = (
        forecast(*opened(root, "5.3.3", config=config)) for config in ({}, {"enableControllerMode": "true"})
    )
    offsets = [each.played.memory.confirmed_offset() for each in (unheard, said)]
    assert offsets[0] != offsets[1]
    assert any("enableControllerMode" in unknown.why for unknown in unheard.unknown)
    assert "the confirmed offset" in {unknown.what for unknown in said.unknown}


def test_a_rebuild_of_queues_in_a_database_says_what_its_files_are_for(tmp_path: Path) -> None:
    report = rebuild(*opened(store_root("5.5.0-rocksdb")), tmp_path / "rebuilt")
    assert report.units == 355
    assert "storeType=default" in report.differences[0]


def test_units_of_a_database_that_cannot_be_read_are_not_counted() -> None:
    cases = database_cases()
    case = next(case for case in map(cases.case, cases.names()) if case["damageClass"] == "none")
    with cases.built(case) as root:
        sorted((root / "commitlog").iterdir())[1].unlink()
        settings = StoreSettings.from_config(case["configOverrides"])
        whole = forecast(*opened(root, case["version"], settings)).missing
        units = max((root / "consumequeue").glob("*.sst"), key=lambda path: path.stat().st_size)
        stored = units.read_bytes()
        units.write_bytes(bytes(stored[:100]) + bytes([stored[100] ^ 0x10]) + stored[101:])
        damaged = forecast(*opened(root, case["version"], settings)).missing
    assert [bool(each.queue_units) for each in whole] == [True]
    assert [each.queue_units for each in damaged] == [None]


def test_missing_bytes_of_a_log_that_does_not_load_are_not_known(tmp_path: Path) -> None:
    root = copy_tree(store_root("5.3.3-clean"), tmp_path / "store")
    sorted((root / "commitlog").iterdir())[1].unlink()
    (root / "checkpoint").unlink()
    (root / "checkpoint").mkdir()
    document = forecast_document(forecast(*opened(root, "5.3.3", SMALL)))
    assert (document["load"]["ok"], document["commitlog"]["missing"]) == (False, None)


def test_a_start_that_hangs_at_missing_bytes_is_first_advised_to_get_them_back() -> None:
    """The other advice moves the files after the gap away, and their messages with them."""
    case = golden_cases().case("r498-halt-7405003-008")
    with golden_cases().built(case) as root:
        answer = forecast(*opened(root, case["version"], StoreSettings.from_config(case["configOverrides"])))
    assert answer.played.hang
    assert "back before the start" in answer.advice[0].repair.do


def test_a_copy_without_configuration_does_not_pass_for_a_start_that_loses_nothing(tmp_path: Path) -> None:
    root = copy_tree(store_root("5.3.3-clean"), tmp_path / "store")
    shutil.rmtree(root / "config")
    document = forecast_document(forecast(*opened(root, "5.3.3", SMALL)))
    (why,) = (each["why"] for each in document["unknown"] if "topics, groups and offsets" in each["what"])
    assert why.startswith("the store has no config/")
    assert "put them back first" in why
    assert any(line.startswith("config ") and "not known" in line for line in in_words(document, 200))
