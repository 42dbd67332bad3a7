"""The door `retention` against what the real cleaners deleted."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from recovery.retention.retention import retention
from recovery.rules.settings import StoreSettings
from tests.support.opened import opened
from tests.support.recovery_cases import golden_cases
from tests.support.recovery_judge import LAB_DISK, effective_settings

CASES = golden_cases()
CLEANINGS = [name for name in CASES.names() if "-retention" in name]


def _deleted(name: str) -> tuple[set[str], set[str]]:
    """Paths that we say go now, and those that went in the recorded rounds."""
    case = CASES.case(name)
    now = time.time()
    hours = case["truth"]["localHour"] - datetime.fromtimestamp(now, UTC).hour
    with CASES.built(case) as root:
        kept = retention(
            *opened(root, case["version"], StoreSettings.from_config(effective_settings(case))),
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
    return ours, _went(case["truth"])


def _went(truth: Mapping[str, Any]) -> set[str]:
    return truth["before"]["files"].keys() - truth["filesAfter"].keys() - {"abort"}


@pytest.mark.parametrize("name", CLEANINGS)
def test_files_of_a_recorded_cleaning(name: str) -> None:
    ours, went = _deleted(name)
    assert ours == went


def test_the_recorded_cleanings_deleted_files() -> None:
    truths = [CASES.case(name)["truth"] for name in CLEANINGS]
    assert len(truths) >= 39
    assert sum(len(_went(truth)) for truth in truths) > 100
