"""Slots of the timer wheel that lost what they held, on brokers' stores."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from parsers.store.store import open_store
from parsers.timer.check import read_timercheck
from parsers.timer.wheel import TIMER_SLOT, read_wheel
from recovery.verify.findings.finding import Finding
from recovery.verify.verify import verify
from tests.support.copies import copy_tree
from tests.support.opened import opened
from tests.support.stores import since, store_names, store_root

NAMES = since(5, store_names("clean"))
SECOND_MS = 1000


def slot_findings(root: Path) -> list[Finding]:
    return [found for found in verify(*opened(root)).findings if found.kind == "timer_slot_wrong"]


@pytest.fixture(params=NAMES)
def root(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    copy = tmp_path / "store"
    copy_tree(store_root(request.param), copy)
    return copy


def waiting_slots(root: Path) -> tuple[list[int], list[int]]:
    """Slots whose time is still to come by timercheck, and the others."""
    timer = {file.kind: file for file in open_store(root).timer}
    read_ms = (read_timercheck(timer["timercheck"]) or {})["last_read_time_ms"]
    rows = read_wheel(timer["timerwheel"]).to_pylist()
    waiting = [row["slot"] for row in rows if row["time"] * SECOND_MS >= read_ms]
    return waiting, [row["slot"] for row in rows if row["time"] * SECOND_MS < read_ms]


def slots_of(found: Finding) -> list[int]:
    size = TIMER_SLOT.size
    return [at // size for each in found.places for at in range(each.file_pos, each.file_pos + each.length, size)]


def clear(root: Path, slots: list[int]) -> None:
    wheel = np.memmap(root / "timerwheel", np.uint8, "r+").reshape(-1, TIMER_SLOT.size)
    wheel[slots] = 0
    wheel.flush()


def test_a_slot_of_a_waiting_timer_that_is_zeros_is_named(root: Path) -> None:
    waiting, past = waiting_slots(root)
    assert waiting
    assert not slot_findings(root)
    clear(root, waiting[::2])
    (found,) = slot_findings(root)
    assert slots_of(found) == waiting[::2]
    assert {place.file for place in found.places} == {"timerwheel"}
    assert "is not in use" in found.evidence[0]
    clear(root, [*waiting, *past])
    (found,) = slot_findings(root)
    assert slots_of(found) == waiting
    ends = [place.file_pos + place.length for place in found.places]
    assert all(end < place.file_pos for end, place in zip(ends, found.places[1:], strict=False)), "neighbours are one"


def test_slots_of_delivered_timers_may_be_zeros(root: Path) -> None:
    past = waiting_slots(root)[1]
    assert past
    clear(root, past)
    assert not slot_findings(root)


@pytest.mark.parametrize(("flushed", "crashed"), [(0, False), (0, True), (1 << 40, True)])
def test_slots_that_were_not_flushed_are_no_finding(root: Path, flushed: int, crashed: bool) -> None:
    """The wheel is flushed after the timer log, and by a shutdown in order only the log is once more: what timercheck
    does not call flushed need not be in it (TimerMessageStore#shutdown @5.3.3). A flush position beyond the timer log's
    files is wrong itself, and calls nothing flushed."""
    check = root / "config" / "timercheck"
    content = bytearray(check.read_bytes())
    clear(root, waiting_slots(root)[0])
    assert slot_findings(root)
    content[8:16] = flushed.to_bytes(8)
    check.write_bytes(content)
    if crashed:
        (root / "abort").touch()
    assert not slot_findings(root)


def test_a_changed_slot_is_one_finding(root: Path) -> None:
    slot = waiting_slots(root)[0][0]
    for field in ("time", "first_position", "last_position"):
        wheel = np.memmap(root / "timerwheel", np.uint8, "r+").reshape(-1, TIMER_SLOT.size)
        before = wheel[slot].copy()
        wheel[slot, TIMER_SLOT.offsets[field] + 7] ^= 1
        wheel.flush()
        (found,) = slot_findings(root)
        assert [place.file_pos for place in found.places] == [slot * TIMER_SLOT.size]
        wheel[slot] = before
        wheel.flush()
    assert not slot_findings(root)
