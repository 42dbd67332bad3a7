"""Any bytes, and damaged logs: facts and counted lines, never an exception."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from rebalance.readers.logs import TEMPLATES, LogReader, LogSummary, facts_from_log
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


def test_long_hostile_lines_take_one_pass() -> None:
    """Each line would take hours if a pattern tried every way to split it."""
    size = 400_000
    lines = []
    for template in TEMPLATES:
        message, _ = example(template)
        for part in (
            *template.literals,
            "MessageQueue [topic=",
            "SubscriptionData [classFilterMode=false, topic=T, ",
            "] ",
        ):
            cut = len(template.literals[0]) or 1
            lines.append(LAYOUTS[0].format(message[:cut] + (part or "x") * (size // len(part or "x"))).encode())
    chosen = lines[:: max(1, len(lines) // 120)]
    counted(chosen)


def test_a_long_line_is_read_like_a_short_one() -> None:
    for template in TEMPLATES:
        _, fields = example(template)
        values = dict(zip(template.field_names, fields, strict=True))
        for name in values.keys() & {"text", "route", "mqs", "consumer_data", "more"}:
            values[name] += " " * 9_000 + values[name][-2:]
        (event,) = LogReader().events([LAYOUTS[0].format(template.text.format(**values)).encode()])
        assert event.template.name == template.name
        assert event.fields == tuple(values.values())


def test_numbers_of_any_length_are_no_crash() -> None:
    head = b"2026-11-21 20:00:00 INFO main - "
    lines = [
        head + b"T Rebalance changed, also update version: 1, " + b"9" * 5_000,
        head + b"doRebalance, g, add a new mq, MessageQueue [topic=T, brokerName=b, queueId=" + b"9" * 5_000 + b"]",
    ]
    assert counted(lines).recognised <= 1
