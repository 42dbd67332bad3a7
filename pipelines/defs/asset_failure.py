"""An asset that could not be made: one sentence for people, the whole trace for who asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipelines.lake.delta.errors import raised_in

if TYPE_CHECKING:
    import dagster as dg
    from dagster_shared.error import SerializableErrorInfo


class AssetFailed(Exception):
    """One sentence naming the asset and the cause; `trace` is everything that Dagster, Spark and Python said."""

    def __init__(self, sentence: str, trace: str) -> None:
        super().__init__(sentence)
        self.trace = trace


def failure_of(run: dg.ExecuteInProcessResult) -> AssetFailed | None:
    """The first step of a run that failed, or the run itself; None for a run that ended well."""
    if run.success:
        return None
    for event in run.all_events:
        if event.is_step_failure and event.step_failure_data.error is not None:
            error = event.step_failure_data.error
            return AssetFailed(f"asset {event.step_key} was not made: {cause_of(error)}", error.to_string())
    ended = [event for event in run.all_events if event.is_run_failure]
    why = ended[-1].message if ended else None
    return AssetFailed(f"the run failed: {why or 'Dagster does not say why'}", why or "")


def cause_of(error: SerializableErrorInfo) -> str:
    """The innermost cause in one line; of an error in a Spark worker, what was raised there."""
    while error.cause is not None:
        error = error.cause
    return raised_in(error.message)
