"""The schedule that turns config/*.json into a history of offsets and configuration."""

from __future__ import annotations

from collections.abc import Iterator

import dagster as dg

from pipelines.defs.lakehouse import Lakehouse
from pipelines.defs.runs.jobs import SNAPSHOT_JOB


@dg.schedule(
    job=SNAPSHOT_JOB,
    cron_schedule="*/5 * * * *",
    description="Every five minutes: keep what each broker has written to config/*.json since the last snapshot.",
)
def config_snapshot_schedule(
    context: dg.ScheduleEvaluationContext, lakehouse: Lakehouse
) -> Iterator[dg.RunRequest | dg.SkipReason]:
    """One run per broker whose configuration files changed; the files' times are the run key, so twice is once."""
    from pipelines.ingest.config_snapshots import config_state

    asked = 0
    for broker in lakehouse.sources().brokers:
        state = config_state(broker)
        if state is not None and not context.instance.has_dynamic_partition("broker", broker.name):
            context.instance.add_dynamic_partitions("broker", [broker.name])
        if state is not None:
            asked += 1
            yield dg.RunRequest(run_key=f"{broker.name}@{state}", partition_key=broker.name)
    if not asked:
        yield dg.SkipReason("no broker of the configuration has a readable config folder")
