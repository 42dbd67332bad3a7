"""The door `retention` against what the real cleaners deleted."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from parsers.store import open_store
from recovery.retention import retention
from recovery.settings import StoreSettings
from tests.support.fixtures import FIXTURES, GOLDEN, needs_fixtures
from tests.support.recovery_cases import CaseSet
from tests.support.recovery_judge import LAB_DISK, effective_settings

COMMITTED = CaseSet(GOLDEN / "recovery", GOLDEN)
RECORDED = CaseSet(FIXTURES / "recovery", FIXTURES)


def _deleted(cases: CaseSet, name: str) -> tuple[set[str], set[str]]:
    """Paths that we say go now, and those that went in the recorded rounds."""
    case = cases.case(name)
    now = time.time()
    hours = case["truth"]["localHour"] - datetime.fromtimestamp(now, UTC).hour
    with cases.built(case) as root:
        kept = retention(
            open_store(root),
            case["version"],
            StoreSettings.from_config(effective_settings(case)),
            int(now * 1000),
            LAB_DISK.commitlog,
            utc_offset=timedelta(hours=(hours + 11) % 24 - 11),
        )
    going = [file for file in kept.files if file.order is not None]
    assert [file.order for file in going] == list(range(1, len(going) + 1))
    ours = {
        f"{file.kind}/{file.topic}/{file.queue_id}/{file.file}" if file.topic else f"{file.kind}/{file.file}"
        for file in going
    }
    went = case["truth"]["before"]["files"].keys() - case["truth"]["filesAfter"].keys() - {"abort"}
    return ours, went


@pytest.mark.parametrize("name", [name for name in COMMITTED.names() if "-retention" in name])
def test_files_of_a_recorded_cleaning(name: str, tmp_path: Path) -> None:
    ours, went = _deleted(replace(COMMITTED, unpacked=tmp_path), name)
    assert ours == went


@pytest.mark.fixtures
@needs_fixtures
def test_files_of_every_recorded_cleaning(tmp_path: Path) -> None:
    cases = replace(RECORDED, unpacked=tmp_path)
    names = [name for name in cases.names() if "-retention" in name]
    told = {name: _deleted(cases, name) for name in names}
    assert {name for name, (ours, went) in told.items() if ours != went} == set()
    assert len(names) >= 39
    assert sum(len(went) for _, went in told.values()) > 100
