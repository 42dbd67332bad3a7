"""Verification of damaged stores with ext queues (enableConsumeQueueExt): every edit found, nothing beside them."""

from __future__ import annotations

import pytest

from recovery.verify.verify import verify
from tests.support.opened import opened
from tests.support.recovery_cases import ext_cases
from tests.support.verify_judge import judge_case

CASES = ext_cases()


@pytest.mark.parametrize("base", sorted({CASES.case(name)["base"] for name in CASES.names()}))
def test_an_undamaged_base_has_no_finding(base: str) -> None:
    assert verify(*opened(CASES.base(base))).findings == ()


@pytest.mark.parametrize("name", CASES.names())
def test_a_damaged_store_is_found_out(name: str) -> None:
    verdict = judge_case(CASES, name)
    assert (verdict.missed, verdict.outside) == ([], [])
