"""The sensor that finds stores with new, grown or changed files, and asks for one run for each."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import dagster as dg
from dagster._core.storage.tags import PARTITION_NAME_TAG

from parsers.store.store import NotAStore
from pipelines.defs.lakehouse import Lakehouse
from pipelines.defs.runs.ingest_job import ingest_broker
from pipelines.ingest.changes import changes_of
from pipelines.ingest.ingested import IngestedFiles
from pipelines.ingest.made_from import MadeFrom
from pipelines.ingest.watermarks import watermarks_of
from pipelines.lake.configuration.broker_stores import store_of

STATE_TAG = "rocketlens/files"
"""On a run: what was to be read, as `Changes.state` tells it."""
ASK_AGAIN_AFTER = timedelta(hours=1)
"""Files that a run could not bring into the lake are not asked for at every tick."""
UNDER_WAY = [
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
]


@dg.sensor(
    job=ingest_broker,
    minimum_interval_seconds=30,
    description="Finds new, grown and changed store files of every broker, and ingests them: one run for each broker.",
)
def store_files_sensor(context: dg.SensorEvaluationContext, lakehouse: Lakehouse) -> dg.SensorResult | dg.SkipReason:
    """Asks the lake what it lacks, not its own memory: what a cancelled run left undone is asked for again."""
    lake, brokers = lakehouse.lake(), lakehouse.sources().brokers
    known, made = IngestedFiles.load_all(lake, [broker.name for broker in brokers]), MadeFrom.load(lake)
    marks, runs, told = watermarks_of(lake), [], []
    for broker in brokers:
        try:
            as_ingested = broker.cut_at(marks.get(broker.name))
            changes = changes_of(as_ingested, store_of(broker), known[broker.name], made)
        except NotAStore as refused:
            context.log.warning(f"{broker.name}: {refused}")
            told.append(f"{broker.name}: {refused}")
            continue
        why_not = why_not_now(context.instance, broker.name, changes.state) if changes else "nothing has changed"
        if why_not:
            told.append(f"{broker.name}: {why_not}")
        else:
            context.log.info(f"{broker.name}: {changes.count} files are new or have changed")
            runs.append(dg.RunRequest(partition_key=broker.name, tags={STATE_TAG: changes.state}))
    if not runs:
        return dg.SkipReason("; ".join(told) or "rocketlens.toml names no broker")
    names = [str(run.partition_key) for run in runs]
    return dg.SensorResult(
        run_requests=runs, dynamic_partitions_requests=[dg.AddDynamicPartitionsRequest("broker", names)]
    )


def why_not_now(instance: dg.DagsterInstance, broker: str, state: str) -> str | None:
    """Why no run is asked for although files have changed; None where one is.

    A run is under way; or one has tried these very files lately and they are still not in the lake, because it failed
    or they cannot be read. A run that was cancelled counts as none.
    """
    of_broker = {PARTITION_NAME_TAG: broker}
    if instance.get_runs(dg.RunsFilter(job_name=ingest_broker.name, tags=of_broker, statuses=UNDER_WAY), limit=1):
        return "a run is under way"
    tried = dg.RunsFilter(
        job_name=ingest_broker.name,
        tags={**of_broker, STATE_TAG: state},
        statuses=[dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE],
        created_after=datetime.now(UTC) - ASK_AGAIN_AFTER,
    )
    if runs := instance.get_runs(tried, limit=1):
        return f"run {runs[0].run_id[:8]} tried these files and could not ingest them all; asked for again in an hour"
    return None
