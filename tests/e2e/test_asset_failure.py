"""An asset that cannot be made is told in one sentence, by its name and its cause."""

from __future__ import annotations

import dagster as dg
import pytest

from pipelines.defs.asset_failure import AssetFailed, failure_of
from pipelines.demo import tell_failure

WORKER = """
  An exception was thrown from the Python worker. Please see the stack trace below.
Traceback (most recent call last):
  File "source.py", line 9, in read
    raise ValueError("no room")
ValueError: no room

JVM stacktrace:
"""


def failed(error: Exception) -> AssetFailed:
    @dg.asset
    def queues() -> None:
        raise error

    quiet = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
    with dg.DagsterInstance.ephemeral() as instance:
        failure = failure_of(dg.materialize([queues], instance=instance, raise_on_error=False, run_config=quiet))
    assert failure is not None
    return failure


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (ValueError("a wrong\nvalue"), "ValueError: a wrong"),
        (RuntimeError(WORKER), "ValueError: no room"),
        (OSError(28, "No space left on device"), "OSError: [Errno 28] No space left on device"),
    ],
)
def test_the_sentence_names_the_asset_and_the_cause(error: Exception, cause: str) -> None:
    assert str(failed(error)) == f"asset queues was not made: {cause}"


def test_the_trace_is_for_who_asks(capsys: pytest.CaptureFixture[str]) -> None:
    failure = failed(ValueError("a wrong value"))
    assert tell_failure(failure, debug=False) == 70
    assert capsys.readouterr().err == (
        "demo: asset queues was not made: ValueError: a wrong value (--debug prints where)\n"
    )
    tell_failure(failure, debug=True)
    told = capsys.readouterr().err
    assert "Traceback" in told or "raise error" in told
    assert told.endswith("demo: asset queues was not made: ValueError: a wrong value\n")


def test_a_run_that_ended_well_has_no_failure() -> None:
    @dg.asset
    def queues() -> None:
        return None

    with dg.DagsterInstance.ephemeral() as instance:
        assert failure_of(dg.materialize([queues], instance=instance)) is None
