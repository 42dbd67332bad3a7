"""The sensor that finds stores with new, grown or changed files, and asks for one run for each."""

from __future__ import annotations

from collections.abc import Iterator

import dagster as dg

from parsers.store.store import NotAStore
from pipelines.defs.lakehouse import Lakehouse
from pipelines.defs.runs.asked import request_of, why_not_now
from pipelines.defs.runs.ingest_job import ingest_broker
from pipelines.ingest.changes import Changes, changes_of
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
    runs, told = [], []
    for name, changes in _changes(lakehouse):
        if isinstance(changes, NotAStore):
            context.log.warning(f"{name}: {changes}")
            told.append(f"{name}: {changes}")
            continue
        why_not: str | None = "nothing has changed"
        if changes:
            why_not = why_not_now(context.instance, ingest_broker.name, name, changes.state)
        if why_not:
            told.append(f"{name}: {why_not}")
        else:
            context.log.info(f"{name}: {changes.count} files are new or have changed")
            runs.append(request_of(name, changes.state))
    if not runs:
        return dg.SkipReason("; ".join(told) or "rocketlens.toml names no broker")
    names = [str(run.partition_key) for run in runs]
    return dg.SensorResult(
        run_requests=runs, dynamic_partitions_requests=[dg.AddDynamicPartitionsRequest("broker", names)]
    )


def _changes(lakehouse: Lakehouse) -> Iterator[tuple[str, Changes | NotAStore]]:
    """By broker, what the lake lacks of its store, or why the store cannot be looked at."""
    lake = lakehouse.lake()
    with lakehouse.stores() as sources:
        known = IngestedFiles.load_all(lake, [broker.name for broker in sources.brokers])
        made, marks = MadeFrom.load(lake), watermarks_of(lake)
        for broker in sources.brokers:
            try:
                as_ingested = broker.cut_at(marks.get(broker.name))
                yield broker.name, changes_of(as_ingested, store_of(broker), known[broker.name], made)
            except NotAStore as refused:
                yield broker.name, refused
