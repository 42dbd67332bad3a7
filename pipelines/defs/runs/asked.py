"""What was asked for before: the runs that Dagster knows of, told apart by what each was to read."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

import dagster as dg
from dagster._core.storage.tags import PARTITION_NAME_TAG
from dagster._time import get_current_datetime  # the clock that dates runs

STATE_TAG = "rocketlens/files"
"""On a run: what was to be read, as a text that is another one as soon as any of the files is."""
ASK_AGAIN_AFTER = timedelta(hours=1)
"""Files that a run could not bring into the lake are not asked for at every tick."""
UNDER_WAY = [
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
]
DONE = [dg.DagsterRunStatus.SUCCESS]
TRIED = [*DONE, dg.DagsterRunStatus.FAILURE]


def request_of(broker: str, state: str, *, run_key: str | None = None) -> dg.RunRequest:
    """Ask for a run that reads what is new of one broker.

    A run key does not keep Dagster from asking twice: it looks for that of a schedule only among the runs of the same
    tick, where several need different ones. It would find that of a sensor also among the runs that were cancelled.
    """
    return dg.RunRequest(run_key=run_key, partition_key=broker, tags={STATE_TAG: state})


def why_not_now(instance: dg.DagsterInstance, job: str, broker: str, state: str) -> str | None:
    """Why no run is asked for although files have changed; None where one is.

    A run is under way; or one has tried these very files lately and they are still not in the lake, because it failed
    or they cannot be read. A run that was cancelled counts as none.
    """
    if _newest(instance, job, {PARTITION_NAME_TAG: broker}, UNDER_WAY):
        return "a run is under way"
    lately = get_current_datetime() - ASK_AGAIN_AFTER
    if tried := _newest(instance, job, _tags(broker, state), TRIED, lately):
        return f"run {tried[:8]} tried these files and could not ingest them all; asked for again in an hour"
    return None


def is_done(instance: dg.DagsterInstance, job: str, broker: str, state: str) -> bool:
    """Whether a run of the job has read these very files to its end."""
    return _newest(instance, job, _tags(broker, state), DONE) is not None


def _tags(broker: str, state: str) -> dict[str, str]:
    return {PARTITION_NAME_TAG: broker, STATE_TAG: state}


def _newest(
    instance: dg.DagsterInstance,
    job: str,
    tags: dict[str, str],
    statuses: Sequence[dg.DagsterRunStatus],
    after: datetime | None = None,
) -> str | None:
    """The id of the newest run of a job with these tags, in one of these states, created after this instant."""
    asked = dg.RunsFilter(job_name=job, tags=tags, statuses=list(statuses), created_after=after)
    runs = instance.get_runs(asked, limit=1)
    return runs[0].run_id if runs else None
