"""Any bytes, and damaged logs: facts and counted lines, never an exception."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from rebalance.logs import TEMPLATES, LogReader, LogSummary, facts_from_log
from tests.unit.test_log_templates import LAYOUTS, example

WHOLE = "".join(layout.format(example(template)[0]) for layout in LAYOUTS for template in TEMPLATES).encode()


def counted(lines: list[bytes]) -> LogSummary:
    summaries: list[LogSummary] = []
    facts = list(facts_from_log(lines, source="s", on_end=summaries.append))
    summary = summaries[0]
    parts = summary.recognised + summary.unreadable + summary.unrecognised + summary.continued + summary.headless
    assert parts == summary.lines == len(lines)
    assert len(facts) <= 2 * len(lines)
    return summary


@given(st.lists(st.binary(max_size=200)))
def test_any_lines(lines: list[bytes]) -> None:
    counted(lines)


@given(st.lists(st.text(max_size=80)))
def test_any_text(lines: list[str]) -> None:
    head = "2026-11-21 20:00:00 INFO main - "
    assert sum(1 for _ in LogReader().events(head + line for line in lines)) <= len(lines)


@given(st.integers(0, 2**32))
def test_flips_cuts_and_swaps(seed: int) -> None:
    chance = random.Random(seed)
    damaged = bytearray(WHOLE)
    for _ in range(60):
        damaged[chance.randrange(len(damaged))] = chance.randrange(256)
    cut = chance.randrange(len(damaged))
    swapped = bytes(damaged[cut:] + damaged[:cut])
    counted(swapped.splitlines(keepends=True)[:400])


def test_the_undamaged_log_is_read_whole() -> None:
    summary = counted(WHOLE.splitlines(keepends=True))
    assert summary.recognised == summary.lines == len(TEMPLATES) * len(LAYOUTS)
