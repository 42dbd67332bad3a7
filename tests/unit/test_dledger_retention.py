"""When files of a DLedger log go: by DLedger's own cleaner, an hour later, and never while older files are left."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

import pytest

from parsers.store.store import open_store
from recovery.retention.cleaner import HOUR_MS
from recovery.retention.retention import Retention, retention
from recovery.rules.settings import StoreSettings
from tests.support.dledger_log import DLedgerLog
from tests.support.dledger_recover import FILE_SIZE, some_log
from tests.support.new_message import new_message
from tests.support.opened import opened
from tests.support.small_log import SmallLog

SETTINGS = StoreSettings.from_config(
    {"mappedFileSizeCommitLog": str(FILE_SIZE), "fileReservedTime": "5", "deleteWhen": "04"}
)

WRITTEN_MS = 1_795_000_000_000  # 2026-11-18 11:06:40 UTC


@pytest.fixture
def log(tmp_path: Path) -> DLedgerLog:
    log = some_log(tmp_path)
    for path in tmp_path.rglob("*"):
        os.utime(path, (WRITTEN_MS / 1000, WRITTEN_MS / 1000))
    return log


def told(root: Path, hours: float, *, used: int | None = 10, version: str = "5.3.3", manual: bool = False) -> Retention:
    now_ms = WRITTEN_MS + int(hours * HOUR_MS)
    return retention(*opened(root, version, SETTINGS), now_ms, used, utc_offset=timedelta(), manual=manual)


def gone(found: Retention) -> int:
    return sum(file.order is not None for file in found.files)


def test_files_expire_an_hour_later_than_the_broker_is_told(log: DLedgerLog) -> None:
    files = len(open_store(log.root).commitlog)
    assert gone(told(log.root, 5.5, used=80)) == 0
    assert gone(told(log.root, 6.0, used=80)) == files - 1
    assert gone(told(log.root, 6.0, used=75)) == 0


def test_at_the_hour_that_is_configured(log: DLedgerLog) -> None:
    files = len(open_store(log.root).commitlog)
    (kept, *_) = told(log.root, 1).files
    assert kept.due_at_ms == WRITTEN_MS - WRITTEN_MS % (24 * HOUR_MS) + 28 * HOUR_MS
    assert gone(told(log.root, 17.2)) == files - 1  # 04:18


def test_above_85_percent_files_go_that_have_not_expired(log: DLedgerLog) -> None:
    files = len(open_store(log.root).commitlog)
    assert gone(told(log.root, 1, used=86)) == files - 1
    assert gone(told(log.root, 1, used=85)) == 0


def test_before_4_9_3_the_disk_ratio_is_dledgers_own(log: DLedgerLog) -> None:
    assert gone(told(log.root, 6.0, used=72, version="4.9.1")) > 0
    assert gone(told(log.root, 6.0, used=72)) == 0


def test_the_command_to_delete_does_not_reach_it(log: DLedgerLog) -> None:
    assert gone(told(log.root, 6.0, manual=True)) == 0


def test_files_from_before_the_switch_go_first_and_by_the_brokers_hours(tmp_path: Path) -> None:
    for base_offset in (0, FILE_SIZE):
        old = SmallLog(size=FILE_SIZE, base_offset=base_offset)
        old.put(3)
        old.end()
        old.save(tmp_path)
    switched = DLedgerLog(tmp_path, FILE_SIZE, base_offset=2 * FILE_SIZE)
    for number in range(12):
        switched.put(new_message("Orders", b"body", queue_offset=number, store_timestamp_ms=WRITTEN_MS + number))
    switched.finish()
    for path in tmp_path.rglob("*"):
        os.utime(path, (WRITTEN_MS / 1000, WRITTEN_MS / 1000))
    found = told(tmp_path, 5.5, used=80)
    assert [file.file for file in found.files if file.order] == [f"{base:020d}" for base in (0, FILE_SIZE)]
