"""Which files of config/ stop which broker, and what such a start takes away: as recorded with the real brokers."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from parsers.timer.check import TIMER_CHECK
from recovery.broker.store_folder import config_entries
from recovery.config.files import DELAYS, Stage
from recovery.config.load import load_config
from recovery.config.start import ConfigStart, StoreFailure, config_start
from recovery.forecast.forecast import forecast
from recovery.rules.settings import StoreSettings
from recovery.rules.versions import BrokerVersion
from tests.support.build_store import shop
from tests.support.fixtures import GOLDEN
from tests.support.opened import opened

ROWS = {
    "topics.json": b'{"topicConfigTable":{"T":{"perm":6}}}',
    "consumerOffset.json": b'{"offsetTable":{"T@G":{0:7}}}',
    "subscriptionGroup.json": b'{"subscriptionGroupTable":{"G":{}}}',
    "consumerFilter.json": b'{"filterDataByTopic":{"T":{}}}',
    "delayOffset.json": b'{"offsetTable":{1:4}}',
    "consumerOrderInfo.json": b'{"table":{"T@G":{}}}',
}
UNREADABLE = bytes(300)
ALL_4 = {"topics.json", "consumerOffset.json", "subscriptionGroup.json", "consumerFilter.json"}


def started(
    folder: Path, version: str, refused: str | None, settings: StoreSettings | None = None, timercheck: bytes = b""
) -> ConfigStart:
    config = folder / "config"
    config.mkdir()
    config.joinpath("timercheck").write_bytes(timercheck)
    for name, content in ROWS.items():
        config.joinpath(name).write_bytes(content)
        config.joinpath(f"{name}.bak").write_bytes(content)
    if refused is not None:
        config.joinpath(refused).write_bytes(UNREADABLE)
        config.joinpath(f"{refused}.bak").write_bytes(UNREADABLE)
    known = settings or StoreSettings()
    start = config_start(config_entries(folder), [("T", 0)], BrokerVersion.parse(version), known)
    assert start is not None
    return start


@pytest.mark.parametrize(
    ("version", "refused", "taken_away"),
    [
        ("4.9.7", "consumerOffset.json", {"consumerOffset.json", "consumerFilter.json"}),
        ("4.9.7", "topics.json", {"consumerOffset.json", "consumerFilter.json"}),
        ("4.9.7", "subscriptionGroup.json", {"consumerFilter.json"}),
        ("4.9.7", "consumerFilter.json", {"consumerFilter.json"}),
        ("4.9.7", "delayOffset.json", set()),
        ("5.0.0", "topics.json", {"consumerOffset.json", "consumerFilter.json", "consumerOrderInfo.json"}),
        ("5.0.0", "consumerOrderInfo.json", {"consumerOrderInfo.json"}),
        ("5.0.0", "delayOffset.json", {"delayOffset.json"}),
        ("5.1.4", "consumerOffset.json", {"consumerFilter.json", "consumerOrderInfo.json"}),
        ("5.2.0", "consumerOrderInfo.json", {"consumerOrderInfo.json"}),
        ("5.3.3", "topics.json", {"consumerFilter.json"}),
        ("5.3.3", "consumerOrderInfo.json", set()),
        ("5.3.3", "topicQueueMapping.json", {"consumerFilter.json"}),
        ("5.3.3", "timermetrics", {"delayOffset.json"}),
        ("5.3.3", "delayOffset.json", {"delayOffset.json"}),
        ("5.4.0", "topics.json", {*ALL_4, "consumerOrderInfo.json"}),
        (
            "5.4.0",
            "subscriptionGroup.json",
            {"subscriptionGroup.json", "consumerFilter.json", "consumerOrderInfo.json"},
        ),
        ("5.5.0", "timermetrics", {"timermetrics", "delayOffset.json"}),
        ("5.5.0", "delayOffset.json", {"delayOffset.json"}),
    ],
)
def test_what_a_refused_start_takes_away(tmp_path: Path, version: str, refused: str, taken_away: set[str]) -> None:
    start = started(tmp_path, version, refused)
    assert start.refused is not None
    assert start.refused.file.name == refused
    assert {each.file for each in start.destroys} == {f"config/{name}" for name in taken_away}


@pytest.mark.parametrize(
    ("version", "file"),
    [("5.3.3", "transactionMetrics"), ("5.3.3", "messageRequestMode.json"), ("5.3.3", "lmqConsumerOffset.json")]
    + [("4.9.7", name) for name in ("lmqConsumerOffset.json", "topicQueueMapping.json", "timermetrics")],
)
def test_files_that_stop_nobody(tmp_path: Path, version: str, file: str) -> None:
    assert started(tmp_path, version, file).refused is None


def test_settings_decide_which_files_are_loaded(tmp_path: Path) -> None:
    settings = StoreSettings(enable_lmq=True, timer_wheel_enable=False)
    start = started(tmp_path, "5.3.3", "lmqConsumerOffset.json", settings)
    assert start.refused is not None
    assert {load.file.name for load in start.loads}.isdisjoint({"consumerOffset.json", "timermetrics"})


RECORDED = GOLDEN / "refused_starts"
REFUSED_STARTS = [json.loads(line) for line in (RECORDED / "starts.jsonl").read_text().splitlines()]
BROKEN_FILES = [json.loads(line) for line in (RECORDED / "broken_files.jsonl").read_text().splitlines()]
MAPPINGS, MODES, CHECK = "topicQueueMapping.json", "messageRequestMode.json", "timercheck"
DELIVERED_TO_MS = 1_795_334_946_000
GOOD = {
    MAPPINGS: (GOLDEN / "static_topics" / "5.5.0" / MAPPINGS).read_bytes(),
    MODES: b'{"messageRequestModeMap":{"T":{"G":{"mode":"POP","popShareQueueNum":2}}}}',
    CHECK: TIMER_CHECK.pack(dict.fromkeys(TIMER_CHECK.offsets, 0) | {"last_read_time_ms": DELIVERED_TO_MS}),
}


@pytest.mark.parametrize(
    "told", REFUSED_STARTS, ids=lambda told: f"{told['version']}-{told['fails']}-{told['has_timers']}"
)
def test_a_start_that_the_store_stops_takes_away_what_was_not_read_by_then(
    tmp_path: Path, told: dict[str, Any]
) -> None:
    """A queue file, the timer wheel or the timer log was cut short, or a folder stood in timercheck's place. Some
    versions end #initialize or #shutdown with an exception, and write nothing then. A timercheck that still has the
    time up to which timers are delivered is not taken away."""
    numbers = dict.fromkeys(TIMER_CHECK.offsets, 0) | {"last_read_time_ms": 1_795_544_032_000}
    settings = StoreSettings(timer_wheel_enable=told["has_timers"])
    start = started(tmp_path, told["version"], None, settings, TIMER_CHECK.pack(numbers))
    taken_away = {name for name in told["changed"] if name != "config/timercheck" or told["timercheck"][0] == 0}
    ours = {each.file for each in replace(start, store_fails=StoreFailure[told["fails"].upper()]).destroys}
    assert told["initialize"] != "true"
    assert ours == taken_away


def break_file(path: Path, how: str) -> None:
    good = GOOD[path.name.removesuffix(".bak")]
    match how:
        case "missing":
            return
        case "a folder":
            path.mkdir()
        case "cut to 20 bytes":
            path.write_bytes(good[:20])
        case _:
            path.write_bytes({"good": good, "unreadable": UNREADABLE, "empty": b""}.get(how, how.encode()))


@pytest.mark.parametrize(
    "told", BROKEN_FILES, ids=lambda told: f"{told['version']}-{told['file']}-{told['main']}-{told['bak']}"
)
def test_a_broken_file_is_taken_as_the_broker_took_it(tmp_path: Path, told: dict[str, Any]) -> None:
    config = tmp_path / "config"
    config.mkdir()
    for name in (*ROWS, *GOOD):
        (config / name).write_bytes({**ROWS, **GOOD}[name])
    for name in (MAPPINGS, MODES):
        (config / f"{name}.bak").write_bytes(GOOD[name])
    for suffix, how in (("", told["main"]), (".bak", told["bak"])):
        (config / f"{told['file']}{suffix}").unlink(missing_ok=True)
        break_file(config / f"{told['file']}{suffix}", how)
    start = config_start(config_entries(tmp_path), [], BrokerVersion.parse(told["version"]), StoreSettings())
    rows = {load.file.name: len(load.rows) for load in start.taken}
    assert (rows[MAPPINGS], rows[MODES]) == (told["memory"]["mappings"], told["memory"]["modes"])
    went = told["left"][0] == "missing" and told["main"] not in ("missing", "empty")
    assert {each.file for each in start.destroys if each.how == "deleted"} == (
        {f"config/{told['file']}"} if went else set()
    )
    if told["file"] == CHECK:
        kept = told["memory"]["delivered_to_ms"] == DELIVERED_TO_MS
        assert (start.delivered_to_ms == DELIVERED_TO_MS) is kept
    else:
        assert (start.refused is None) is (told["initialize"] == "true")


@pytest.mark.parametrize("has_timers", [True, False])
def test_a_folder_in_the_place_of_timercheck_stops_a_broker_with_timers(tmp_path: Path, has_timers: bool) -> None:
    root = shop(tmp_path / "store").finish()
    (root / "config" / CHECK).mkdir()
    told = forecast(*opened(root, "5.5.0", config={"timerWheelEnable": str(has_timers).lower()}))
    assert told.outcome.starts is not has_timers


def test_a_folder_of_the_store_classes_alone_stops_no_broker(tmp_path: Path) -> None:
    (tmp_path / "config").mkdir()
    for name in ("delayOffset.json", "delayOffset.json.bak"):
        (tmp_path / "config" / name).write_bytes(UNREADABLE)
    start = config_start(config_entries(tmp_path), [("T", 0)], BrokerVersion(5, 3, 3), StoreSettings())
    assert start is not None
    assert (start.refused, start.losses.count, start.has_files) == (None, 0, False)


@pytest.mark.parametrize(
    ("main", "backup", "loads"),
    [
        (b'{"offsetTable":{1:5,12:0}}', None, True),
        (b'{"offsetTable":{},"note":"a {1: b, 2: c"}', b"{", True),
        (b"{offsetTable:{'1':5,},}", b"{", True),
        (b'{"note":"\xff"}', b"{", True),
        (b"null", b"{", True),
        (b"{", b'{"offsetTable":{1:5}}', True),
        (b"{", b"[1]", False),
        (b"{{{", b"{{{", False),
        (b"{", b"", True),
        (None, None, True),
        (b"[" * 100_000, b"{", False),
    ],
)
def test_which_copies_load(tmp_path: Path, main: bytes | None, backup: bytes | None, loads: bool) -> None:
    (tmp_path / "config").mkdir()
    for name, content in (("delayOffset.json", main), ("delayOffset.json.bak", backup)):
        if content is not None:
            (tmp_path / "config" / name).write_bytes(content)
    copies = config_entries(tmp_path)
    assert copies is not None
    assert load_config(copies, DELAYS, Stage.STORE, BrokerVersion(4, 9, 8)).returns is loads
