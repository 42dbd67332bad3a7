"""Starts and cleanings of damaged stores, recorded from the real store classes, against what we say they do.

Run with `-s` to see the table of fields: cases that decide it, right, wrong.
"""

from __future__ import annotations

import os
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.fixtures import FIXTURES, GOLDEN, needs_fixtures
from tests.support.recovery_cases import CaseSet
from tests.support.recovery_judge import Told, judge

Verdict = tuple[str, list[str], Told]
ALL_CASES = 933
COMMITTED = CaseSet(GOLDEN / "recovery", GOLDEN)


def _judge_one(of: tuple[CaseSet, str]) -> Verdict:
    cases, name = of
    decided, wrong = judge(cases, name)
    return name, decided, wrong


def _judge_all(cases: CaseSet) -> list[Verdict]:
    cases.unpack_all()
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(_judge_one, [(cases, name) for name in cases.names()], chunksize=16))


def _table(verdicts: list[Verdict]) -> str:
    """One line per field: in how many cases the truth decides it, and where we differ."""
    decided = Counter(_without_round(field) for _, fields, _ in verdicts for field in fields)
    wrong = Counter(_without_round(field) for _, _, fields in verdicts for field in fields)
    lines = [f"{'field':45} {'cases':>6} {'right':>6} {'wrong':>6}"]
    lines += [f"{field:45} {n:6} {n - wrong[field]:6} {wrong[field]:6}" for field, n in sorted(decided.items())]
    return "\n".join(lines)


def _without_round(field: str) -> str:
    """The rounds of a cleaning case count as one field."""
    return field.partition(".")[2] if field[0].isdigit() else field


@pytest.mark.fixtures
@needs_fixtures
def test_every_recorded_start_is_foretold(tmp_path: Path) -> None:
    verdicts = _judge_all(CaseSet(FIXTURES / "recovery", tmp_path))
    print(f"\n{len(verdicts)} cases\n{_table(verdicts)}")
    wrong = {name: sorted(fields) for name, _, fields in verdicts if fields}
    assert not wrong
    assert len(verdicts) >= ALL_CASES
    assert sum(len(fields) for _, fields, _ in verdicts) >= 25 * ALL_CASES


@pytest.mark.parametrize("name", COMMITTED.names())
def test_a_recorded_start_is_foretold(name: str, tmp_path: Path) -> None:
    decided, wrong = judge(replace(COMMITTED, unpacked=tmp_path), name)
    assert wrong == {}
    assert decided == ["hang"] or len(decided) > 2
