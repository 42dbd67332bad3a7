"""Several calls that use Spark's workers, a few at a time."""

from __future__ import annotations

import time
from functools import partial
from threading import Barrier
from typing import TYPE_CHECKING

import pytest

from pipelines.spark.workers import on_workers, side_by_side

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def _slept(seconds: int) -> int:
    time.sleep(seconds)
    return seconds


def test_results_come_in_order_of_calls_that_run_at_once(spark: SparkSession) -> None:
    both = Barrier(2, timeout=30)  # one call alone would not get past it

    def call(number: int) -> list[int]:
        both.wait()
        return on_workers(spark, abs, [-number], "numbers")

    assert list(side_by_side(spark, [partial(call, number) for number in range(4)])) == [[0], [1], [2], [3]]


def test_a_call_that_fails_ends_its_neighbours_and_the_rest_is_not_begun(spark: SparkSession) -> None:
    begun, ended = list[str](), list[str]()

    def long(name: str) -> None:
        begun.append(name)
        try:
            on_workers(spark, _slept, [120], "sleep")
        finally:
            ended.append(name)

    def failing() -> None:
        time.sleep(2)  # its neighbour has a task by then
        raise OSError("no more")

    since = time.monotonic()
    with pytest.raises(OSError, match="no more"):
        list(side_by_side(spark, [failing, *[partial(long, name) for name in ("beside", "next", "later", "last")]]))
    assert begun == ended
    assert begun in (["beside"], ["beside", "next"])  # the failing call's place may be taken before the end is seen
    assert time.monotonic() - since < 60
    assert on_workers(spark, abs, [-7], "numbers") == [7]
