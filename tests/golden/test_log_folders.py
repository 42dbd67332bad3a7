"""Which folder of several a new file of the log is made in, against MultiPathMappedFileQueue of 4.9.8 and 5.3.3, and
against the stores of brokers."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from recovery.forecast.document import forecast_document
from recovery.forecast.forecast import forecast
from recovery.rules.settings import StoreSettings
from recovery.rules.store_paths import next_log_folder
from tests.support.fixtures import GOLDEN
from tests.support.opened import opened_golden
from tests.support.stores import log_setting, store_names, store_root, truth

PATHS = ("storePathCommitLog", "readOnlyCommitLogStorePaths")


def test_a_new_file_goes_where_the_brokers_classes_make_it() -> None:
    cases = [json.loads(line) for line in (GOLDEN / "recovery" / "log_folders.jsonl").read_text("utf-8").splitlines()]
    for case in cases:
        settings = StoreSettings.from_config(
            {"mappedFileSizeCommitLog": str(case["fileSize"]), **{name: case[name] for name in PATHS}}
        )
        folder = next_log_folder(settings, case["base"], case["full"])
        assert (folder and f"{folder}/{case['base']:020d}") == case["path"], case
    assert {case["error"] for case in cases} == {None, "java.lang.ArithmeticException"}


@pytest.mark.parametrize("name", store_names("multipath"))
def test_every_file_of_a_brokers_log_lies_in_its_folder_and_the_next_one_is_foretold(name: str) -> None:
    size = truth(name, "store_state.json")["settings"]["mappedFileSizeCommitLog"]
    settings = StoreSettings.from_config({**log_setting(name), "mappedFileSizeCommitLog": size})
    store, known = opened_golden(name)
    assert len({file.path.parent for file in store.commitlog}) == 2
    for file in store.commitlog:
        assert next_log_folder(settings, file.base_offset or 0) == str(file.path.parent)
    base = (store.commitlog[-1].base_offset or 0) + int(size)
    document = forecast_document(forecast(store, known, with_advice=False))
    assert document["commitlog"]["next_file"] == f"{store_root(name)}/disk2/commitlog/{base:020d}"


@pytest.mark.parametrize("name", store_names("multipath"))
def test_a_folder_that_became_read_only_is_listed_once(name: str) -> None:
    """MultiPathMappedFileQueue#load: the names of both settings are one set @4.9.2."""
    store, known = opened_golden(name)
    said = {"readOnlyCommitLogStorePaths": str(store_root(name) / "commitlog")}
    frozen = replace(known, settings=known.settings.with_config(said))
    files = forecast_document(forecast(store, frozen, with_advice=False))["commitlog"]["files"]
    assert files == sorted(file.name for file in store.commitlog)
