"""Rows of several tables that belong together: equal in all columns, then by their place in the log."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from parsers.kernels.arrays import Longs
from recovery.fates.held_kernel import NONE


def numbered(*tables: Sequence[Longs]) -> list[Longs]:
    """A number for each row of each table; rows that are equal in all columns have the same, within and across."""
    columns = [np.concatenate(parts) for parts in zip(*tables, strict=True)]
    order = np.lexsort(columns[::-1])
    differs = np.zeros(len(order), np.bool_)
    for column in columns:
        differs[1:] |= column[order[1:]] != column[order[:-1]]
    numbers = np.empty(len(order), np.int64)
    numbers[order] = np.cumsum(differs)
    return np.split(numbers, np.cumsum([len(table[0]) for table in tables])[:-1])


def firsts(numbers: Longs, places: Longs, count: int) -> Longs:
    """For each number below `count` the row of that number with the smallest place, NONE without one."""
    found = np.full(count, NONE, np.int64)
    order = np.argsort(-places, kind="stable")
    found[numbers[order]] = order
    return found


def first_after(numbers: Longs, places: Longs, others: Longs, at: Longs) -> Longs:
    """For each row the row of `others` with its number and the smallest place `at` after its own, NONE without one."""
    return _beside(numbers, places, others, at, 0)


def last_before(numbers: Longs, places: Longs, others: Longs, at: Longs) -> Longs:
    """For each row the row of `others` with its number and the largest place `at` before its own, NONE without one."""
    return _beside(numbers, places, others, at, -1)


def _beside(numbers: Longs, places: Longs, others: Longs, at: Longs, step: int) -> Longs:
    if not len(others) or not len(numbers):
        return np.full(len(numbers), NONE, np.int64)
    known = np.unique(np.concatenate((places, at)))
    wanted = numbers * len(known) + np.searchsorted(known, places)
    theirs = others * len(known) + np.searchsorted(known, at)
    order = np.argsort(theirs, kind="stable")
    found = np.searchsorted(theirs[order], wanted, side="left" if step else "right") + step
    row = order[np.clip(found, 0, len(order) - 1)]
    is_found = (found >= 0) & (found < len(order)) & (others[row] == numbers)
    return np.where(is_found, row, NONE)
