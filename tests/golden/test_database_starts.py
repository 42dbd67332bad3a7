"""Starts of damaged stores with queues in RocksDB, and moves to it and back, recorded from the real store classes."""

from __future__ import annotations

import pytest

from tests.support.recovery_cases import database_cases
from tests.support.recovery_judge import judge

CASES = database_cases()


@pytest.mark.parametrize("name", CASES.names())
def test_a_recorded_start_with_a_database_is_foretold(name: str) -> None:
    decided, wrong = judge(CASES, name)
    assert wrong == {}
    assert len(decided) > 2
