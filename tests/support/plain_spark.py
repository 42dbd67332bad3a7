"""Spark's part in an ingest without a Java process: the same pickles go to the same functions, one after another."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class _Tasks:
    def __init__(self, tasks: Sequence[Any], function: Callable[[Any], Any] | None = None) -> None:
        self._tasks, self._function = tasks, function

    def map(self, function: Callable[[Any], Any]) -> _Tasks:
        return _Tasks(self._tasks, function)

    def collect(self) -> list[Any]:
        return [self._done(task) for task in self._tasks]

    def _done(self, task: Any) -> Any:
        function, task = pickle.loads(pickle.dumps((self._function, task)))
        return pickle.loads(pickle.dumps(function(task)))


class PlainSpark:
    """Stands where `on_workers` takes a session."""

    @property
    def sparkContext(self) -> PlainSpark:
        return self

    master = "local[1]"
    defaultParallelism = 1

    def stop(self) -> None:
        """Nothing runs."""

    def parallelize(self, tasks: Sequence[Any], slices: int) -> _Tasks:
        assert slices >= 1
        return _Tasks(tasks)


def plain_spark(
    master: str = "local[*]", properties: Mapping[str, str] | None = None, *, short_lived: bool = False
) -> SparkSession:
    """Called as `spark_session` is: each of its callers may be given this instead."""
    return cast("SparkSession", PlainSpark())
