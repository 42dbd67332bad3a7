"""The sensor that finds stores with new, grown or changed files, and asks for one run for each."""

from __future__ import annotations

import dagster as dg

from parsers.store.store import NotAStore
from pipelines.defs.lakehouse import Lakehouse
from pipelines.defs.runs.asked import request_of, why_not_now
from pipelines.defs.runs.ingest_job import ingest_broker
from pipelines.ingest.changes import changes_of
from pipelines.ingest.ingested import IngestedFiles
from pipelines.ingest.made_from import MadeFrom
from pipelines.ingest.watermarks import watermarks_of
from pipelines.lake.configuration.broker_stores import store_of


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
        why_not: str | None = "nothing has changed"
        if changes:
            why_not = why_not_now(context.instance, ingest_broker.name, broker.name, changes.state)
        if why_not:
            told.append(f"{broker.name}: {why_not}")
        else:
            context.log.info(f"{broker.name}: {changes.count} files are new or have changed")
            runs.append(request_of(broker.name, changes.state))
    if not runs:
        return dg.SkipReason("; ".join(told) or "rocketlens.toml names no broker")
    names = [str(run.partition_key) for run in runs]
    return dg.SensorResult(
        run_requests=runs, dynamic_partitions_requests=[dg.AddDynamicPartitionsRequest("broker", names)]
    )
