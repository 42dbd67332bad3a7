"""Starts and cleanings of damaged stores, recorded from the real store classes, against what we say they do.

Run with `-s` to see the table of fields: cases that decide it, right, wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from tests.support.recovery_cases import golden_cases
from tests.support.recovery_judge import judge
from tests.support.recovery_told import Told

Verdict = tuple[list[str], Told]
CASES = golden_cases()


@pytest.fixture(scope="module")
def verdicts() -> Iterator[list[Verdict]]:
    judged: list[Verdict] = []
    yield judged
    print(f"\n{len(judged)} cases\n{_table(judged)}")


def _table(verdicts: list[Verdict]) -> str:
    """One line per field: in how many cases the truth decides it, and where we differ."""
    decided = Counter(_without_round(field) for fields, _ in verdicts for field in fields)
    wrong = Counter(_without_round(field) for _, fields in verdicts for field in fields)
    lines = [f"{'field':45} {'cases':>6} {'right':>6} {'wrong':>6}"]
    lines += [f"{field:45} {n:6} {n - wrong[field]:6} {wrong[field]:6}" for field, n in sorted(decided.items())]
    return "\n".join(lines)


def _without_round(field: str) -> str:
    """The rounds of a cleaning case count as one field."""
    return field.partition(".")[2] if field[0].isdigit() else field


@pytest.mark.parametrize("name", CASES.names())
def test_a_recorded_start_is_foretold(name: str, verdicts: list[Verdict]) -> None:
    decided, wrong = judge(CASES, name)
    verdicts.append((decided, wrong))
    assert wrong == {}
    assert decided == ["hang"] or len(decided) > 2
