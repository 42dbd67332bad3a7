"""Timers that come again where timercheck is broken: what real brokers wrote into it when they had recovered."""

from __future__ import annotations

import json
import random
import struct
from pathlib import Path
from typing import Any

import pytest

from parsers.timer.check import TIMER_CHECK
from recovery.forecast.document import forecast_document
from recovery.forecast.forecast import Forecast, forecast
from tests.support.copies import copy_tree
from tests.support.fixtures import GOLDEN
from tests.support.opened import opened
from tests.support.stores import store_root

ROWS = (GOLDEN / "refused_starts" / "broken_files.jsonl").read_text().splitlines()
RECORDED = [row for row in map(json.loads, ROWS) if row["file"] == "timercheck" and row["main"] != "a folder"]
JUNK = random.Random(1).randbytes(300)
TAKEN_IN = 299
"""The next timer message by the timer log of 5.3.3-pop, and by its timercheck."""


def broken(folder: Path, how: str) -> Path:
    root = folder / "store"
    copy_tree(store_root("5.3.3-pop"), root)
    check = root / "config" / "timercheck"
    match how:
        case "missing":
            check.unlink()
        case "a folder":
            check.unlink()
            check.mkdir()
        case "cut to 20 bytes":
            check.write_bytes(check.read_bytes()[:20])
        case "unreadable" | "empty":
            check.write_bytes(JUNK if how == "unreadable" else b"")
    return root


def started(folder: Path, how: str, version: str, config: dict[str, str] | None = None) -> Forecast:
    return forecast(*opened(broken(folder, how), version, config=config))


@pytest.mark.parametrize("told", RECORDED, ids=lambda told: f"{told['version']}-{told['main']}")
def test_timers_come_again_as_far_as_the_broker_went_back(tmp_path: Path, told: dict[str, Any]) -> None:
    again = started(tmp_path, told["main"], told["version"]).timers_again
    if told["main"] == "good":
        assert again is None
        return
    read_ms, _, taken_in_from, _ = struct.unpack(">4q", bytes.fromhex(told["left"][0])[:32])
    assert again is not None
    assert (again.from_queue_offset, again.messages) == (taken_in_from, TAKEN_IN - taken_in_from)
    kept_ms = TIMER_CHECK.unpack((store_root("5.3.3-pop") / "config" / "timercheck").read_bytes())["last_read_time_ms"]
    assert again.whole_wheel is (read_ms != kept_ms)


def test_a_timercheck_that_is_gone_is_worth_a_look_and_a_copy_of_it(tmp_path: Path) -> None:
    told = started(tmp_path, "missing", "5.3.3")
    assert told.has_loss
    ways = [way["do"] for way in forecast_document(told)["advice"]]
    assert any("newest copy" in way and "config/timercheck" in way for way in ways)


def test_a_folder_for_timercheck_is_moved_away_for_a_copy(tmp_path: Path) -> None:
    told = started(tmp_path, "a folder", "5.5.0")
    assert told.outcome.starts is False
    (way,) = (way for way in told.advice if way.then is not None and way.then.starts)
    assert way.repair.files == ("config/timercheck",)
    assert "newest copy" in way.repair.do
    assert "all that the log" in way.repair.costs


def test_where_rocksdbstore_takes_timers_in_it_stays_open(tmp_path: Path) -> None:
    told = started(tmp_path, "missing", "5.5.0", {"timerRocksDBEnable": "true"})
    assert told.timers_again is None
    assert "which timers are delivered again" in {unknown.what for unknown in told.unknown}
