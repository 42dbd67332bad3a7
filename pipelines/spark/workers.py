"""Calls of a function on Spark's workers; what ends them is reported in one sentence with its cause."""

from __future__ import annotations

import gc
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from functools import cache
from secrets import token_hex
from typing import TYPE_CHECKING, Generic, TypeVar

from py4j.protocol import Py4JError, Py4JNetworkError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException

from pipelines.lake.delta.errors import NoSpark, WorkFailed, raised_in

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Task = TypeVar("Task")
Result = TypeVar("Result")
FATAL = re.compile(r"Fatal Python error: (?P<signal>[^\n]+)")
CRASHED = "Python worker exited unexpectedly"
LOST_EXECUTOR = re.compile(r"ExecutorLostFailure \((?P<executor>executor \S+).*?Reason: (?P<reason>[^\n]+)")
NO_JVM = re.compile(
    r"Answer from Java side is empty|Connection refused|Error while (sending|receiving)|SparkContext was"
)
CALLS_AT_ONCE = 4
"""What one call leaves of the workers, the next ones take: a call for a single broker has a single task."""


def on_workers(
    spark: SparkSession, function: Callable[[Task], Result], tasks: Sequence[Task], doing: str
) -> list[Result]:
    """The results of a function for each task, in order. Function and tasks travel to the workers as pickles.

    Args:
        doing: what the work is, for the sentence of a failure.
    Raises:
        WorkFailed: a task failed, or a worker died; NoSpark: Spark itself did.
    """
    if not tasks:
        return []
    try:
        return spark.sparkContext.parallelize(tasks, len(tasks)).map(_Lasting(function)).collect()
    except (Py4JError, PySparkException, ConnectionError, EOFError) as error:
        failed = NoSpark if has_ended(error) else WorkFailed
        raise failed(f"{doing}: {cause_of_failure(error)}") from error


class _Lasting(Generic[Task, Result]):
    """The function, after which a worker's modules are kept out of the way of its garbage collector.

    PySpark's daemon has a worker collect after each task (pyspark/daemon.py#manager, 4.3); going through all that was
    imported takes longer than a small task.
    """

    def __init__(self, function: Callable[[Task], Result]) -> None:
        self._function = function

    def __call__(self, task: Task) -> Result:
        try:
            return self._function(task)
        finally:
            _freeze_once()


@cache
def _freeze_once() -> None:
    gc.freeze()


def side_by_side(spark: SparkSession, calls: Sequence[Callable[[], Result]]) -> Iterator[Result]:
    """The results of calls that use the workers, in order, a few of them at a time.

    When one fails, or the results are not wanted any more, what runs is ended, and the rest is not begun.
    """
    context, tag = spark.sparkContext, f"rocketlens-{token_hex(4)}"
    at_once = min(CALLS_AT_ONCE, context.defaultParallelism)
    if at_once == 1:
        yield from (call() for call in calls)
        return
    with ThreadPoolExecutor(at_once, initializer=context.addJobTag, initargs=(tag,)) as pool:
        given = [pool.submit(call) for call in calls]
        try:
            for one in given:
                yield one.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            while running := [one for one in given if not one.done()]:
                with suppress(Py4JError, ConnectionError, EOFError):  # Spark may be what has ended
                    context.cancelJobsWithTag(tag)
                wait(running, timeout=1)
            raise


def has_ended(error: BaseException) -> bool:
    """Whether Spark's Java process is gone."""
    return isinstance(error, Py4JNetworkError | ConnectionError | EOFError) or bool(NO_JVM.search(str(error)))


def cause_of_failure(error: BaseException) -> str:
    """Why work on Spark failed, without Spark's own stack."""
    text = str(error)
    if has_ended(error):
        return (
            "Spark's Java process has ended (killed, or out of memory: ROCKETLENS_DRIVER_MEMORY sets its heap, 2g by "
            "default)"
        )
    if lost := LOST_EXECUTOR.search(text):
        return f"Spark lost {lost['executor']}: {lost['reason'].strip()}"
    if fatal := FATAL.search(text):
        hint = " (a file was cut short while it was read)" if fatal["signal"].startswith("Bus error") else ""
        return f"a worker process of Spark died: {fatal['signal'].strip()}{hint}"
    if CRASHED in text:
        return "a worker process of Spark was killed (by hand, or by the system when memory ran out)"
    return raised_in(text)
