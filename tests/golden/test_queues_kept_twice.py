"""A store of 5.5.1 with queues in files and in a database that is behind them: the settings say which ones answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from recovery.forecast.forecast import forecast
from tests.support.build_store import SETTINGS, shop
from tests.support.cli import call, rows_of
from tests.support.fixtures import GOLDEN, unpacked
from tests.support.opened import opened

BASE = GOLDEN / "recovery" / "rocksdb" / "bases" / "r551-combined-behind.tar.gz"
TWICE = ("storeType=default", "rocksdbCQDoubleWriteEnable=true")
FROM_DATABASE = (*TWICE, "combineCQPreferCQType=defaultRocksDB")
Ends = dict[tuple[str, int], int]


@pytest.fixture(scope="module")
def root() -> Path:
    folder = unpacked(BASE)
    return next(path.parent for path in sorted(folder.rglob("consumequeue")))


def said(*settings: str, version: str = "5.5.1") -> list[str]:
    return ["--version", version, *(part for setting in settings for part in ("--config", setting))]


def ends(root: Path, *settings: str) -> tuple[Ends, bool]:
    """The end of each queue, and whether a database answered."""
    rows = rows_of("queues", root, *said(*settings))
    assert len({row["files"] == 0 for row in rows}) == 1
    return {(row["topic"], row["queue_id"]): row["max_queue_offset"] for row in rows}, rows[0]["files"] == 0


def test_the_setting_says_which_queues_answer(root: Path) -> None:
    files, database = ends(root, *TWICE), ends(root, *FROM_DATABASE)
    assert (files[1], database[1]) == (False, True)
    assert sum(database[0].values()) < sum(files[0].values())
    assert ends(root) == ends(root, "storeType=default") == files
    assert ends(root, *FROM_DATABASE[1:]) == database
    assert ends(root, "storeType=defaultRocksDB") == database


def test_a_search_by_time_ends_where_those_queues_do(root: Path) -> None:
    place, end = max(ends(root, *TWICE)[0].items(), key=lambda each: each[1])
    asked = ("offset-at", root, "--topic", place[0], "--queue", place[1], "--at", "2040-01-01T00:00:00Z")
    answers = [rows_of(*asked, *said(*settings))[0]["queue_offset"] for settings in (TWICE, FROM_DATABASE)]
    assert answers == [end, ends(root, *FROM_DATABASE)[0][place]]
    assert answers[0] > answers[1]


def foretold(root: Path, *settings: str, version: str = "5.5.1") -> dict[str, Any]:
    document: dict[str, Any] = json.loads(call("forecast", root, "--no-advice", *said(*settings, version=version)).out)
    return document


@pytest.mark.parametrize(
    ("setting", "version"),
    [("combineCQUseRocksdbForLmq=true", "5.4.0"), ("rocksdbCQSelectiveDoubleWriteEnable=true", "5.5.0")],
)
def test_a_setting_that_a_broker_does_not_know_changes_nothing(root: Path, setting: str, version: str) -> None:
    with_setting, without = (foretold(root, *TWICE, *more, version=version) for more in ((setting,), ()))
    assert with_setting["lost_counts"]["message"] is not None
    (told,) = (each for each in with_setting["unknown"] if each not in without["unknown"])
    assert told["why"] == f"{version} does not have this setting"


def test_a_start_by_the_numbers_of_the_database_alone_is_named_as_not_played(root: Path) -> None:
    setting = "combineAssignOffsetCQType=defaultRocksDB"
    assert foretold(root, *TWICE, version="5.4.0")["lost_counts"]["message"] == 0
    told = foretold(root, *TWICE, setting, version="5.4.0")
    assert any(setting.partition("=")[0] in each["why"] for each in told["unknown"])
    assert told["lost_counts"]["message"] is None
    assert foretold(root, "storeType=default", setting)["lost_counts"]["message"] == 0
    (why,) = (each["why"] for each in foretold(root, *TWICE, setting)["unknown"] if "whether the" in each["what"])
    assert why.endswith("5.5.1 does not come up in any case")


COMBINED = [json.loads(row) for row in (GOLDEN / "refused_starts" / "combined.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("told", COMBINED, ids=lambda told: f"{told['version']}-{list(told['settings'])[1:]}")
def test_stores_are_combined_or_refused_as_by_their_class(tmp_path: Path, told: dict[str, Any]) -> None:
    """A start that is not refused is played."""
    found = forecast(*opened(shop(tmp_path / "store").finish(), told["version"], SETTINGS, told["settings"]))
    assert (found.played.load_error is not None) is (told["exception"] is not None)
    assert not found.played.not_played
