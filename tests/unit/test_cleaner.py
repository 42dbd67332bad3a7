"""When the log's cleaner works: hour, disk, command, by version; and when a file that stays is due."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from recovery.retention.cleaner import Clock, DiskUse, is_delete_hour, trigger
from recovery.retention.retention import next_delete_hour
from recovery.rules.settings import StoreSettings
from recovery.rules.versions import BrokerVersion

V4, V5 = BrokerVersion(4, 9, 8), BrokerVersion(5, 3, 3)
NOON = Clock(int(datetime(2026, 11, 21, 12, 30, tzinfo=UTC).timestamp() * 1000), timedelta(0))
HOUR = 3_600_000


@pytest.mark.parametrize(
    ("when", "expected"),
    [("12", True), ("04", False), ("04;12", True), ("12;x", True), ("04;x", None), ("", None), ("x", None)],
)
def test_hours_are_a_list(when: str, expected: bool | None) -> None:
    """An hour that is no number fails the round, unless one before it is now."""
    assert is_delete_hour(when, NOON.hour) is expected


def test_a_list_that_cannot_be_read_stops_every_deletion() -> None:
    full = trigger(V5, StoreSettings.from_config({"deleteWhen": "x"}), NOON, DiskUse(99, 99), manual=True)
    assert not full.runs


@pytest.mark.parametrize(
    ("version", "used", "config", "runs", "at_once"),
    [
        (V5, 20, {}, False, False),
        (V5, 76, {}, True, False),
        (V5, 86, {}, True, True),
        (V5, 86, {"cleanFileForciblyEnable": "false"}, True, False),
        (V5, 40, {"diskSpaceCleanForciblyRatio": "5"}, True, True),  # clamped to 30
        (V5, 29, {"diskSpaceCleanForciblyRatio": "5", "diskMaxUsedSpaceRatio": "95"}, False, False),
        (V4, 86, {}, True, True),
        (V4, 86, {"diskMaxUsedSpaceRatio": "95"}, False, False),  # at once is set, and nothing is deleted
        (V5, 86, {"diskMaxUsedSpaceRatio": "95"}, True, True),
        (V4, 19, {"diskSpaceCleanForciblyRatio": "5", "diskMaxUsedSpaceRatio": "10"}, True, True),
        (V4, -1, {}, True, False),
    ],
)
def test_disk_use(version: BrokerVersion, used: int, config: dict[str, str], runs: bool, at_once: bool) -> None:
    decided = trigger(version, StoreSettings.from_config(config), NOON, DiskUse(used, used), manual=False)
    assert (decided.runs, decided.at_once and decided.runs) == (runs, at_once)


def test_unknown_disk_use_stays_open_unless_the_hour_decides() -> None:
    unknown = DiskUse(None, None)
    assert trigger(V5, StoreSettings(), NOON, unknown, manual=False).undecided
    by_hour = trigger(V5, StoreSettings.from_config({"deleteWhen": "12"}), NOON, unknown, manual=False)
    assert (by_hour.runs, by_hour.undecided) == (True, None)
    assert trigger(V5, StoreSettings(), NOON, DiskUse(1, 1), manual=True).runs


@pytest.mark.parametrize(
    ("when", "hours_from_now", "expected_hours"),
    [("12", 0, 0), ("04", 0, 15.5), ("04", 15.6, 15.6), ("04", 17, 39.5), ("11;13", 0, 0.5), ("", 0, None)],
)
def test_the_next_delete_hour(when: str, hours_from_now: float, expected_hours: float | None) -> None:
    due = next_delete_hour(when, NOON, NOON.now_ms + int(hours_from_now * HOUR))
    assert due == (None if expected_hours is None else NOON.now_ms + int(expected_hours * HOUR))


@pytest.mark.parametrize("year", [9999, 10_000, 300_000])
def test_no_delete_hour_is_due_beyond_the_calendar(year: int) -> None:
    from_ms = NOON.now_ms + int((year - 2026) * 365.2425 * 24 * HOUR)
    assert next_delete_hour("", NOON, from_ms) is None
    assert year == 9999 or next_delete_hour("04", NOON, from_ms) is None
