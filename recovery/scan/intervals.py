"""Byte ranges of the log in which nothing can be compared, and ranges of neighbours taken together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from parsers.kernels.arrays import Longs, Mask


@dataclass(frozen=True, slots=True)
class Intervals:
    """Half-open ranges, sorted, not overlapping."""

    starts: Longs
    ends: Longs

    @classmethod
    def of(cls, ranges: Iterable[tuple[int, int]]) -> Intervals:
        merged: list[list[int]] = []
        for start, end in sorted(ranges):
            if merged and start <= merged[-1][1]:
                merged[-1][1] = max(merged[-1][1], end)
            elif end > start:
                merged.append([start, end])
        starts, ends = ([pair[side] for pair in merged] for side in (0, 1))
        return cls(np.array(starts, np.int64), np.array(ends, np.int64))

    def hold(self, points: Longs) -> Mask:
        """Which of the points lie in one of the ranges."""
        if not len(self.starts):
            return np.zeros(len(points), np.bool_)
        number = np.searchsorted(self.starts, points, side="right") - 1
        inside: Mask = (number >= 0) & (points < self.ends[np.maximum(number, 0)])
        return inside


def found_at(sorted_values: Longs, wanted: Longs) -> tuple[Longs, Mask]:
    """For each wanted value its (first) row in the sorted ones, and whether it is there."""
    if not len(sorted_values):
        return np.zeros(len(wanted), np.int64), np.zeros(len(wanted), np.bool_)
    rows = np.minimum(np.searchsorted(sorted_values, wanted), len(sorted_values) - 1)
    return rows, sorted_values[rows] == wanted


def reached_from(known_to: int, starts: Longs, ends: Longs, step: int) -> int:
    """The end of the ranges that go on from a place, each at most `step` behind the last; the place without any.

    `ends`: of each range of `starts`, in any order; ranges that start before the place do not count.
    """
    behind = starts >= known_to
    order = np.argsort(starts[behind], kind="stable")
    rising, reached = starts[behind][order], np.maximum.accumulate(ends[behind][order])
    apart = np.flatnonzero(rising > np.concatenate([[known_to], reached])[:-1] + step)
    count = int(apart[0]) if len(apart) else len(rising)
    return int(reached[count - 1]) if count else known_to


def neighbours(numbers: Longs) -> Iterator[tuple[int, int]]:
    """(first row, end row) of each run of consecutive numbers in a rising list."""
    if not len(numbers):
        return
    breaks = np.flatnonzero(np.diff(numbers) != 1) + 1
    yield from pairwise([0, *breaks.tolist(), len(numbers)])
