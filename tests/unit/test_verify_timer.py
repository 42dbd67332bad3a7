"""Timer log, timer wheel and timercheck beside the log: silent on what a broker left, one finding for each edit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from parsers.checkpoints.epochs import Epoch, encode_epochs
from parsers.commitlog.batches.segment import read_segment
from parsers.store.store import open_store
from parsers.timer.check import TIMER_CHECK
from parsers.timer.log import TIMER_UNIT, read_timerlog
from parsers.timer.wheel import TIMER_SLOT, read_wheel
from recovery.scan.intervals import Intervals
from recovery.verify.checks.timer import check_timer
from recovery.verify.checks.timer_sides import LogSide, Slots, TimerLogShape, TimerUnits
from recovery.verify.findings.finding import Judgement, Place
from recovery.verify.settle.timer_kernel import NO_RECORD, RIGHT
from recovery.verify.verify import verify
from tests.support.build_store import overwrite
from tests.support.opened import opened
from tests.support.timer_store import (
    INT,
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


def unit_write(root: Path, field: str, value: int, size: int, row: int = ROW) -> Place:
    at = row * TIMER_UNIT.size
    overwrite(root / LOG, at + TIMER_UNIT.offsets[field], value.to_bytes(size, "big", signed=True))
    return Place(LOG, at, TIMER_UNIT.size)


def slot_write(root: Path, field: str, value: int, size: int) -> Place:
    (wheel,) = (file for file in open_store(root).timer if file.kind == "timerwheel")
    at = read_wheel(wheel)["slot"][ROW].as_py() * TIMER_SLOT.size
    overwrite(root / WHEEL, at + TIMER_SLOT.offsets[field], value.to_bytes(size, "big", signed=True))
    return Place(WHEEL, at, TIMER_SLOT.size)


def place_of_other_topic(root: Path) -> int:
    """A record that is no timer message: the log's first that no unit names."""
    timers = {
        place for batch in read_timerlog(open_store(root).timer) for place in batch["physical_offset"].to_pylist()
    }
    starts = record_starts(root)
    return next(place for place in starts if place not in timers)


def record_starts(root: Path) -> list[int]:
    return [
        place
        for file in open_store(root).commitlog
        for batch in read_segment(file, columns=["physical_offset"])
        for place in batch["physical_offset"].to_pylist()
    ]


Edit = Callable[[Path], Place]
EDITS: dict[str, tuple[str, str, Edit]] = {
    "a unit beyond the log": (
        "timer_unit_wrong",
        "99999999",
        lambda root: unit_write(root, "physical_offset", 99999999, LONG),
    ),
    "a unit below 0": ("timer_unit_wrong", "-5", lambda root: unit_write(root, "physical_offset", -5, LONG)),
    "a unit inside a record": (
        "timer_unit_wrong",
        "no record",
        lambda root: unit_write(root, "physical_offset", 1700, LONG),
    ),
    "a unit of another topic": (
        "timer_unit_wrong",
        "not of rmq_sys_wheel_timer",
        lambda root: unit_write(root, "physical_offset", place_of_other_topic(root), LONG),
    ),
    "a wrong size": ("timer_unit_wrong", "names 77 bytes", lambda root: unit_write(root, "msg_size", 77, INT)),
    "a unit of no size": ("timer_unit_wrong", "size is not 52", lambda root: unit_write(root, "unit_size", 51, INT)),
    "a magic that is none": ("timer_unit_wrong", "magic is none", lambda root: unit_write(root, "magic", 1 << 8, INT)),
    "a link to no unit": (
        "timer_slot_wrong",
        "names 13 before it",
        lambda root: unit_write(root, "prev_position", 13, LONG),
    ),
    "a last position beyond the timer log": (
        "timer_slot_wrong",
        "88888888",
        lambda root: slot_write(root, "last_position", 88888888, LONG),
    ),
    "a last position inside a unit": (
        "timer_slot_wrong",
        "to 53",
        lambda root: slot_write(root, "last_position", 53, LONG),
    ),
    "a first position at no unit": (
        "timer_slot_wrong",
        "holds 53",
        lambda root: slot_write(root, "first_position", 53, LONG),
    ),
    "a first position of another chain": (
        "timer_slot_wrong",
        "does not end at its first",
        lambda root: slot_write(root, "first_position", 0, LONG),
    ),
    "a last position of another slot": (
        "timer_slot_wrong",
        "due at another time",
        lambda root: slot_write(root, "last_position", 52, LONG),
    ),
    "a queue offset beyond the queue": (
        "timer_check_wrong",
        "last_queue_offset 12345",
        lambda root: check_write(root, "last_queue_offset", 12345),
    ),
    "a queue offset beyond the master's": (
        "timer_check_wrong",
        "last_queue_offset 299, which is at most that",
        lambda root: check_write(root, "master_queue_offset", 298),
    ),
    "timers delivered up to a time when the file was not written yet": (
        "timer_check_wrong",
        "last_read_time_ms 1995274085000",
        lambda root: check_write(root, "last_read_time_ms", 1_995_274_085_000),
    ),
    "no time of delivery, as a refused start leaves it": (
        "timer_check_wrong",
        "seven days before",
        lambda root: check_write(root, "last_read_time_ms", 0),
    ),
    "a flush position beyond the timer log": (
        "timer_check_wrong",
        "last_flush_position 99999984",
        lambda root: check_write(root, "last_flush_position", 99999984),
    ),
}


def test_the_store_as_its_broker_left_it_has_no_finding(root: Path) -> None:
    verification = verified(root)
    assert verification.findings == ()
    assert not [state for state in verification.explained if "timer" in state.what]


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_is_one_finding_at_its_place(name: str, root: Path) -> None:
    kind, said, edit = EDITS[name]
    place = edit(root)
    found = only(root)
    assert (found.kind, found.places, found.count) == (kind, (place,), 1)
    assert said in " ".join(found.evidence)


def test_a_timer_due_at_another_time_than_its_message_is_one_finding(root: Path) -> None:
    """The slot that holds it is not to blame."""
    (wheel,) = (file for file in open_store(root).timer if file.kind == "timerwheel")
    row = read_wheel(wheel)["last_position"][ROW].as_py() // TIMER_UNIT.size
    place = unit_write(root, "delay_ms", 2_000_000_000, INT, row)
    found = only(root)
    assert (found.kind, found.places) == ("timer_unit_wrong", (place,))
    assert "TIMER_OUT_MS" in found.evidence[1]


def test_no_unclean_exit_leaves_a_queue_offset_beyond_the_masters(root: Path) -> None:
    """Both are written in one step, and recovery takes timers in again from the lesser one on."""
    (root / "abort").touch()
    check_write(root, "master_queue_offset", 0)
    assert only(root).kind == "timer_check_wrong"


def test_units_of_messages_that_an_unclean_exit_took_are_explained(root: Path) -> None:
    """A power loss takes what was not forced: no more than a file of the log."""
    end = max(record_starts(root)) + 60_000
    unit_write(root, "physical_offset", end, LONG)
    assert only(root).kind == "timer_unit_wrong"
    (root / "abort").touch()
    verification = verified(root)
    assert verification.findings == ()
    assert "timers beyond the log" in [state.what for state in verification.explained]


def test_far_beyond_the_log_no_unclean_exit_explains_a_unit(root: Path) -> None:
    (root / "abort").touch()
    unit_write(root, "physical_offset", 99999999, LONG)
    assert only(root).kind == "timer_unit_wrong"


def test_a_number_of_timers_that_does_not_fit_is_explained(root: Path) -> None:
    """A start after an unclean exit leaves it: TimerWheel#reviseSlot sets positions only."""
    place = slot_write(root, "timer_count", 40, INT)
    verification = verified(root)
    assert verification.findings == ()
    (state,) = (state for state in verification.explained if state.what == "number of timers in a slot")
    assert state.places == (place,)


START = 5200
"""Where the timer log below starts: its first file was deleted."""


def slots_judged(
    first: int, last: int, *, time: int = 1_790_000_000, unforced: int = 0, log_start: int = 600
) -> Judgement:
    """One slot beside a timer log of two units: the first follows one in a deleted file and has no record at 0."""
    units = TimerUnits(
        position=np.array([START, START + TIMER_UNIT.size]),
        prev_position=np.array([START - TIMER_UNIT.size, START]),
        due_ms=np.array([1_790_000_000_000] * 2),
        is_rolled=np.array([False, False]),
        is_deletion=np.array([False, False]),
        physical_offset=np.array([0, 1000]),
        msg_size=np.array([500, 500]),
        verdict=np.array([NO_RECORD, RIGHT]),
    )
    end = START + 2 * TIMER_UNIT.size
    log = TimerLogShape((START,), (LOG,), end, START + LOG_BYTES, Intervals.of(()))
    slots = Slots(*(np.array([value]) for value in (3, time, first, last, 2)), wheel_is_whole=True)
    return check_timer(
        units, log, slots, None, LogSide(log_start, 2000, Intervals.of(()), unforced, None, dates_check=True)
    )


def test_what_a_broker_leaves_of_a_slot_is_no_finding() -> None:
    """Delivered slots stay as they are while their files go; the precision is one of four."""
    assert slots_judged(0, 52).findings == ()
    assert slots_judged(START - TIMER_UNIT.size, START + TIMER_UNIT.size).findings == ()
    assert slots_judged(0, START + TIMER_UNIT.size, time=17_900_000_000).findings == ()
    assert [found.kind for found in slots_judged(0, START, time=17_900_000_001).findings] == ["timer_slot_wrong"]


def test_a_slot_ahead_of_the_timer_log_is_explained_after_an_unclean_exit_alone() -> None:
    ahead = START + 2 * TIMER_UNIT.size
    assert [found.kind for found in slots_judged(ahead, ahead).findings] == ["timer_slot_wrong"]
    judged = slots_judged(ahead, ahead, unforced=1 << 16)
    assert judged.findings == ()
    assert "timer slots ahead of the timer log" in [state.what for state in judged.explained]
    far = ahead + 1_000_000 * TIMER_UNIT.size
    assert [found.kind for found in slots_judged(far, far, unforced=1 << 16).findings] == ["timer_slot_wrong"]


@pytest.mark.parametrize(("due_ms", "kinds"), [(1_790_000_060_001, ["timer_check_wrong"]), (1_790_000_060_000, [])])
def test_a_timer_that_was_not_due_when_it_was_taken_in_has_a_unit(due_ms: int, kinds: list[str]) -> None:
    """Of the two messages taken in one has a unit; one that is due by then is delivered without."""
    written = {"last_queue_offset": 2, "master_queue_offset": 2, "timestamp_ms": 1_790_000_000_000, "counter": 1}
    check = dict.fromkeys(TIMER_CHECK.offsets, 0) | written | {"last_read_time_ms": 1_790_000_000_000}
    of_unit = (np.array([each]) for each in (0, -1, 1_790_000_900_000, False, False, 1000, 500, RIGHT))
    log = TimerLogShape((0,), (LOG,), TIMER_UNIT.size, LOG_BYTES, Intervals.of(()))
    slots = Slots(*(np.array([value]) for value in (3, 1_790_000_900, 0, 0, 1)), wheel_is_whole=True)
    taken_in = np.array([1000, 1500]), np.array([1_790_000_900_000, due_ms])
    side = LogSide(0, 2000, Intervals.of(()), 0, 2, dates_check=True, taken_in=taken_in)
    units = TimerUnits(*of_unit)
    headless = TimerLogShape((TIMER_UNIT.size,), (LOG,), TIMER_UNIT.size, LOG_BYTES, Intervals.of(()))
    assert check_timer(units, headless, slots, check, side).findings == (), "the lost files are told by themselves"
    found = check_timer(units, log, slots, check, side).findings
    assert [one.kind for one in found] == kinds
    assert all(one.places[1] == Place(LOG, TIMER_UNIT.size, TIMER_UNIT.size) for one in found)


def test_timers_whose_messages_expired_are_explained() -> None:
    judged = slots_judged(0, 52)
    assert (judged.findings, [state.what for state in judged.explained]) == ((), ["expired timers"])
    assert [found.kind for found in slots_judged(0, 52, log_start=0).findings] == ["timer_unit_wrong"]


def late_delivery(root: Path, version: str | None = None) -> set[str]:
    check_write(root, "last_read_time_ms", 1_995_274_085_000)
    return {one.kind for one in verify(*opened(root, version)).findings}


def test_a_slave_that_was_a_master_keeps_the_date_of_that_time(root: Path) -> None:
    """Before 5.2.0 a slave takes the time of delivery from its master, and not the date: SlaveSynchronize @5.1.4."""
    epochs = encode_epochs([Epoch(1, 0)])
    assert late_delivery(root) == {"timer_check_wrong"}
    (root / "epochFileCheckpoint").write_bytes(epochs)
    assert late_delivery(root) == set(), "it may have been a master before 5.2.0"
    assert late_delivery(root, "5.1.4") == set()
    assert late_delivery(root, "5.3.3") == {"timer_check_wrong"}
