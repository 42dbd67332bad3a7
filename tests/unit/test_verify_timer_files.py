"""The timer log, the wheel and timercheck as files: gone, empty, or of another size."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from parsers.commitlog.record.layout import MAGIC_BLANK
from parsers.timer.check import TIMER_CHECK
from parsers.timer.log import TIMER_BLANK, TIMER_UNIT
from parsers.timer.wheel import TIMER_SLOT, WHEEL_BYTES
from recovery.forecast.forecast import forecast
from recovery.verify.findings.finding import Place
from recovery.verify.verify import verify
from tests.support.build_store import overwrite
from tests.support.opened import opened
from tests.support.timer_store import (
    CHECK,
    LOG,
    LOG_BYTES,
    LONG,
    ROW,
    WHEEL,
    check_write,
    only,
    timer_store,
    verified,
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return timer_store(tmp_path)


@pytest.mark.parametrize("size", [WHEEL_BYTES - TIMER_SLOT.size, 12_321_043, WHEEL_BYTES + 1])
def test_a_wheel_of_another_size_stops_the_broker(root: Path, size: int) -> None:
    os.truncate(root / WHEEL, size)
    (found,) = (one for one in verified(root).findings if one.kind == "timer_wheel_size_wrong")
    assert found.places == (Place(WHEEL, min(size, WHEEL_BYTES), abs(size - WHEEL_BYTES)),)
    told = forecast(*opened(root, "5.3.3"))
    assert told.outcome.starts is False
    assert "timerwheel" in (told.played.load_error.evidence if told.played.load_error else "")
    assert told.played.config is not None
    assert not told.played.config.losses.count
    assert forecast(*opened(root, "5.3.3", config={"timerWheelEnable": "false"})).outcome.starts


def test_what_a_start_takes_away_depends_on_what_stops_it(root: Path) -> None:
    """The timer log has another size than the default here, and of the wheel one slot is missing."""
    (root / "config" / "delayOffset.json").write_text('{"offsetTable":{1:4}}')
    delays, as_it_is = "config/delayOffset.json", {"mappedFileSizeTimerLog": str(LOG_BYTES)}
    assert destroyed(root, {"mappedFileSizeTimerLog": "104857600"}) == {delays}
    assert destroyed(root, as_it_is) == set()
    assert destroyed(root, as_it_is | {"mappedFileSizeConsumeQueue": "400"}) == {delays, CHECK}
    os.truncate(root / WHEEL, WHEEL_BYTES - TIMER_SLOT.size)
    assert destroyed(root, as_it_is | {"mappedFileSizeConsumeQueue": "400"}) == {delays}


def destroyed(root: Path, config: dict[str, str]) -> set[str]:
    start = forecast(*opened(root, "5.4.0", config=config)).played.config
    assert start is not None
    return {each.file for each in start.destroys}


@pytest.mark.parametrize("version", ["5.0.0", "5.3.3"])
def test_a_wheel_without_a_byte_is_a_new_one(root: Path, version: str) -> None:
    (root / WHEEL).write_bytes(b"")
    assert forecast(*opened(root, version)).outcome.starts
    assert "timer_wheel_size_wrong" not in {one.kind for one in verified(root).findings}


def test_a_wheel_that_is_gone_is_told_where_timers_were_set(root: Path) -> None:
    (root / WHEEL).unlink()
    assert (only(root).kind, only(root).places) == ("timer_wheel_missing", (Place(WHEEL, 0, 0),))
    (root / WHEEL).write_bytes(b"")
    assert only(root).kind == "timer_wheel_missing", "it is a new one"
    (root / LOG).write_bytes(bytes(LOG_BYTES))
    assert "timer_wheel_missing" not in {one.kind for one in verified(root).findings}, "no timer was set"


def test_a_timer_log_that_is_gone_is_told_where_one_was_written(root: Path) -> None:
    wheel = (root / WHEEL).read_bytes()
    shutil.rmtree(root / "timerlog")
    assert (only(root).kind, only(root).places) == ("timer_log_missing", (Place("timerlog", 0, 0),))
    (root / WHEEL).write_bytes(bytes(WHEEL_BYTES))
    assert only(root).kind == "timer_log_missing", "timercheck says how far it was flushed"
    check_write(root, "last_flush_position", 0)
    told = only(root)
    assert told.kind == "timer_check_wrong", "messages that were not due when they were taken in got there"
    assert told.places[1:] == (Place("timerlog", 0, 0),)
    (root / WHEEL).write_bytes(wheel)
    assert only(root).kind == "timer_log_missing", "slots lead into it"


def test_the_head_of_a_timer_log_is_missed_where_nothing_has_expired(root: Path) -> None:
    (root / LOG).rename(root / "timerlog" / f"{LOG_BYTES:020d}")
    assert {one.kind for one in verified(root).findings} & {"timer_log_missing", "timer_check_wrong"} == {
        "timer_log_missing"
    }
    min((root / "commitlog").iterdir()).unlink()
    assert "timer_log_missing" not in {one.kind for one in verified(root).findings}, "a cleaner may have taken it"


def test_a_timercheck_that_is_gone_is_told_where_timers_were_set(root: Path) -> None:
    (root / CHECK).unlink()
    assert (only(root).kind, only(root).places) == ("timer_check_missing", (Place(CHECK, 0, 0),))
    (root / CHECK).write_bytes(b"")
    assert (only(root).kind, only(root).places) == ("timer_check_missing", (Place(CHECK, 0, 0),)), "it is a new one"
    (root / LOG).write_bytes(bytes(LOG_BYTES))
    assert "timer_check_missing" not in {one.kind for one in verified(root).findings}, "no timer was set"


@pytest.mark.parametrize(("number", "size"), [(0, LOG_BYTES // 2), (1, 100), (2, 0), (2, LOG_BYTES + 1)])
def test_a_timer_log_file_of_another_size_stops_the_broker(root: Path, number: int, size: int) -> None:
    files = [root / "timerlog" / f"{LOG_BYTES * each:020d}" for each in range(3)]
    for file in files[1:]:
        file.write_bytes(bytes(LOG_BYTES))
    assert "timer_log_size_wrong" not in {one.kind for one in verified(root).findings}
    os.truncate(files[number], size)
    (found,) = (one for one in verified(root).findings if one.kind == "timer_log_size_wrong")
    start, end = sorted((size, LOG_BYTES))
    assert found.places == (Place(f"timerlog/{files[number].name}", start, end - start),)
    assert forecast(*opened(root, "5.1.2")).outcome.starts is False
    assert forecast(*opened(root, "5.3.3")).outcome.starts is (size == 0), "an empty last file is deleted"
    assert forecast(*opened(root, "5.3.3", config={"timerWheelEnable": "false"})).outcome.starts


def test_bytes_that_timercheck_says_were_flushed_are_named_where_they_are_zeros(root: Path) -> None:
    units = ROW * TIMER_UNIT.size
    overwrite(root / LOG, units, bytes(LOG_BYTES - units))
    (root / WHEEL).write_bytes(bytes(WHEEL_BYTES))
    flushed = TIMER_CHECK.unpack((root / CHECK).read_bytes())["last_flush_position"]
    (found,) = (one for one in verified(root).findings if one.kind == "timer_check_wrong")
    assert found.places[1:] == (Place(LOG, units, flushed - units),)


def test_a_single_timer_log_file_of_another_size_is_told_by_the_setting_or_by_timercheck(root: Path) -> None:
    said, cut = {"mappedFileSizeTimerLog": str(LOG_BYTES)}, ROW * TIMER_UNIT.size + LONG
    assert forecast(*opened(root, "5.3.1", config=said)).outcome.starts
    os.truncate(root / LOG, cut)
    told = forecast(*opened(root, "5.3.1", config=said))
    assert not told.outcome.starts
    assert told.advice == (), "given its size with zeros it loses the timers behind the unit that was cut"
    (found,) = (one for one in verify(*opened(root, "5.3.1", config=said)).findings if "size" in one.kind)
    assert (found.kind, found.places) == ("timer_log_size_wrong", (Place(LOG, cut, LOG_BYTES - cut),))
    assert not forecast(*opened(root, "5.3.1")).outcome.starts, "timercheck says that more was flushed"
    check_write(root, "last_flush_position", 0)
    assert forecast(*opened(root, "5.3.1")).outcome.starts, "nothing tells what size it had"


def test_timer_log_files_of_one_size_are_started_with_it(root: Path) -> None:
    (root / "timerlog" / f"{LOG_BYTES:020d}").write_bytes(bytes(LOG_BYTES))
    assert forecast(*opened(root, "5.3.1")).outcome.starts
    told = forecast(*opened(root, "5.3.1", config={"mappedFileSizeTimerLog": "104857600"}))
    assert not told.outcome.starts
    assert told.advice[0].repair.config == {"mappedFileSizeTimerLog": str(LOG_BYTES)}


@pytest.mark.parametrize(
    ("size", "version", "starts"),
    [
        ((4 << 20) + 100, "5.3.3", True),
        ((4 << 20) + 101, "5.3.3", False),
        ((4 << 20) + 101, "5.3.1", False),
        ((4 << 20) + 101, "5.5.1", True),
        ((1 << 32) - 1, "5.3.3", False),
        (0, "5.3.3", True),
    ],
)
def test_a_last_unit_with_the_size_of_no_message_ends_a_start(
    root: Path, size: int, version: str, starts: bool
) -> None:
    """As TimerMessageStore of these versions did with such units."""
    overwrite(root / LOG, units_of(root)[-1] + TIMER_UNIT.offsets["msg_size"], size.to_bytes(4, "big"))
    assert does_start(root, version) is starts


def test_the_blank_of_a_file_is_read_as_a_unit_where_none_is_left_behind_it(root: Path) -> None:
    """As TimerMessageStore of 5.3.1 and 5.3.3 did with a timer log of 2110 bytes a file, whose last one was zeros."""
    units = (root / LOG).read_bytes()[: 4 * TIMER_UNIT.size]
    (root / LOG).write_bytes(
        units + TIMER_BLANK.pack({"rest_size": 30, "reserved": 0, "magic": MAGIC_BLANK}) + bytes(14)
    )
    size = len(units) + 30
    (root / "timerlog" / f"{size:020d}").write_bytes(bytes(size))
    assert not does_start(root, "5.3.3")
    (root / "timerlog" / f"{size:020d}").unlink()
    assert does_start(root, "5.3.3")


def units_of(root: Path) -> list[int]:
    """Where the units of the first file begin."""
    content = (root / LOG).read_bytes()
    starts = range(0, len(content) // TIMER_UNIT.size * TIMER_UNIT.size, TIMER_UNIT.size)
    return [at for at in starts if TIMER_UNIT.unpack(content, at)["unit_size"] == TIMER_UNIT.size]


def does_start(root: Path, version: str) -> bool:
    config = {"mappedFileSizeTimerLog": str((root / LOG).stat().st_size)}
    return bool(forecast(*opened(root, version, config=config), with_advice=False).outcome.starts)
