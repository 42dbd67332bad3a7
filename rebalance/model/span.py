"""Spans of time: (from, until) in epoch milliseconds."""

from __future__ import annotations

from collections.abc import Iterable

Span = tuple[int, int]
EVER = 1 << 62
"""An instant after all others; `-EVER` is before all others."""
ALWAYS: Span = (-EVER, EVER)


def merged(spans: Iterable[Span]) -> list[Span]:
    """The spans in order and apart: those that touch are one."""
    apart: list[Span] = []
    for begin, end in sorted(spans):
        if apart and begin <= apart[-1][1]:
            apart[-1] = apart[-1][0], max(apart[-1][1], end)
        else:
            apart.append((begin, end))
    return apart
