"""Entries out of order: which were moved, and which were written by a clock that was set."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from rebalance.readers.logs.lines.order import EntryOrder
from rebalance.readers.logs.lines.reader import LogEvent
from rebalance.readers.logs.templates.table import UNREADABLE


def ordered(seconds: Sequence[int]) -> tuple[list[int], EntryOrder]:
    order = EntryOrder()
    events = [LogEvent(UNREADABLE, at * 1000, 0, 0, record, (), b"") for record, at in enumerate(seconds, 1)]
    return [event.at_ms // 1000 for event in order.ordered(events)], order


def test_a_log_in_order_is_left_alone() -> None:
    seconds = [0, 5, 10, 9, 15]
    assert ordered(seconds)[0] == seconds


def test_a_block_that_fits_between_two_neighbours_was_moved() -> None:
    found, order = ordered([0, 5, 30, 35, 10, 15, 20, 25, 40])
    assert found == [0, 5, 10, 15, 20, 25, 30, 35, 40]
    assert (order.moved, order.back_ms) == (4, 25_000)


@pytest.mark.parametrize(
    "seconds",
    [
        pytest.param([0, 5, 10, 15, 20, 3, 8, 13, 18, 23], id="set back into what is written"),
        pytest.param([100, 105, 110, 3, 8, 13], id="set back before all of it"),
        pytest.param([0, 5, 10, 0, 5, 10], id="written twice"),
    ],
)
def test_a_clock_that_was_set_stays_one(seconds: list[int]) -> None:
    found, order = ordered(seconds)
    assert found == seconds
    assert order.moved == 0


def test_what_goes_back_again_and_again_is_no_clock() -> None:
    found, order = ordered([at for pair in range(0, 200, 10) for at in (pair + 5, pair)])
    assert found == list(range(0, 200, 5))
    assert (order.moved, order.back_ms) == (20, 0)


def test_the_log_speaks_from_its_earliest_entry_to_its_latest() -> None:
    _, order = ordered([30, 5, 40, 10, 20])
    assert order.first is not None
    assert order.last is not None
    assert (order.first.at_ms, order.last.at_ms) == (5_000, 40_000)
