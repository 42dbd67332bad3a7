"""Scanning ahead of who takes the batches."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from threading import get_native_id
from typing import Any

import pytest

from recovery.rebuild.rebuild import rebuild
from recovery.scan.scan_ahead import NICER
from recovery.scan.scanner import LogScanner
from tests.support.build_store import SETTINGS, VERSION, shop
from tests.support.opened import opened

scan = LogScanner.scan


@pytest.mark.skipif(sys.platform != "linux", reason="Linux alone knows the priority of a thread")
def test_threads_that_scan_give_way_to_those_that_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nice: list[int] = []

    def noted(scanner: LogScanner, *given: Any) -> Any:
        nice.append(os.getpriority(os.PRIO_PROCESS, get_native_id()))
        return scan(scanner, *given)

    store = opened(shop(tmp_path / "store").finish(), VERSION, SETTINGS)
    before = os.getpriority(os.PRIO_PROCESS, get_native_id())
    monkeypatch.setattr(LogScanner, "scan", noted)
    rebuild(*store, tmp_path / "new")
    assert nice
    assert set(nice) == {min(19, before + NICER)}
    assert os.getpriority(os.PRIO_PROCESS, get_native_id()) == before
