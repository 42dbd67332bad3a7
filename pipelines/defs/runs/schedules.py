"""The schedule that turns config/*.json into a history of offsets and configuration."""

from __future__ import annotations

from collections.abc import Iterator

import dagster as dg

from pipelines.defs.lakehouse import Lakehouse
from pipelines.defs.runs.asked import is_done, request_of, why_not_now
from pipelines.defs.runs.jobs import SNAPSHOT_JOB


@dg.schedule(
    job=SNAPSHOT_JOB,
    cron_schedule="*/5 * * * *",
    description="Every five minutes: keep what each broker has written to config/*.json since the last snapshot.",
)
def config_snapshot_schedule(
    context: dg.ScheduleEvaluationContext, lakehouse: Lakehouse
) -> Iterator[dg.RunRequest | dg.SkipReason]:
    """One run for each broker that has written configuration which no run has kept."""
    from pipelines.ingest.config_snapshots import config_state

    told, asked = [], 0
    with lakehouse.stores() as sources:
        states = {broker.name: config_state(broker) for broker in sources.brokers}
    for name, state in states.items():
        if state is None:
            told.append(f"{name}: no readable config folder")
        elif is_done(context.instance, SNAPSHOT_JOB.name, name, state):
            told.append(f"{name}: nothing has changed")
        elif why_not := why_not_now(context.instance, SNAPSHOT_JOB.name, name, state):
            told.append(f"{name}: {why_not}")
        else:
            if not context.instance.has_dynamic_partition("broker", name):
                context.instance.add_dynamic_partitions("broker", [name])
            yield request_of(name, state, run_key=name)
            asked += 1
    if not asked:
        yield dg.SkipReason("; ".join(told) or "rocketlens.toml names no broker")
