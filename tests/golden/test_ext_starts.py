"""Starts of damaged stores with ext queues (enableConsumeQueueExt), recorded from the real store classes."""

from __future__ import annotations

import pytest

from tests.support.recovery_cases import ext_cases
from tests.support.recovery_judge import judge

CASES = ext_cases()


@pytest.mark.parametrize("name", CASES.names())
def test_a_recorded_start_with_ext_queues_is_foretold(name: str) -> None:
    decided, wrong = judge(CASES, name)
    assert wrong == {}
    assert len(decided) > 2


def test_the_bytes_of_ext_files_are_recorded() -> None:
    told = [
        queue["ext"]
        for name in CASES.names()
        for queue in CASES.case(name)["truth"].get("quiet", {}).get("queues", {}).values()
        if queue.get("ext")
    ]
    assert len(told) > len(CASES.names())
