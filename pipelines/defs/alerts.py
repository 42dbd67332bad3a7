"""The sensor that tells the webhook of failed checks."""

from __future__ import annotations

import json
from collections.abc import Iterator

import dagster as dg

from pipelines.defs.checks import STORE_CHECKS
from pipelines.defs.lakehouse import Lakehouse
from pipelines.lake.alert import Trouble, tell_of_lake

SEVERITIES = {dg.AssetCheckSeverity.ERROR: "error", dg.AssetCheckSeverity.WARN: "warning"}


@dg.sensor(
    minimum_interval_seconds=60,
    description="Posts to the webhook of rocketlens.toml when other checks fail than did before, and when none does.",
)
def failed_check_alert(context: dg.SensorEvaluationContext, lakehouse: Lakehouse) -> dg.SkipReason:
    """Looks at the latest result of each check, whoever evaluated it: a run, or `rocketlens ingest`."""
    sources = lakehouse.sources()
    if sources.webhook is None:
        return dg.SkipReason("rocketlens.toml names no webhook in [alert]")
    failed = list(failed_checks(context.instance))
    if why := tell_of_lake(sources.webhook, sources.lake, "check", failed):
        context.log.warning(why)
        return dg.SkipReason(why)
    return dg.SkipReason(f"{len(failed)} checks fail now; the webhook knows")


def failed_checks(instance: dg.DagsterInstance) -> Iterator[Trouble]:
    """The checks whose latest result is that they failed."""
    keys = [key for check in STORE_CHECKS for key in check.check_keys]
    latest = instance.event_log_storage.get_latest_asset_check_execution_by_key(keys)
    for key in keys:
        record = latest.get(key)
        entry = None if record is None or record.event is None else record.event.dagster_event
        if entry is None or entry.event_type_value != dg.DagsterEventType.ASSET_CHECK_EVALUATION.value:
            continue
        result = entry.asset_check_evaluation_data
        if not result.passed:
            text = result.description or json.dumps(key.name)
            yield Trouble(key.name, SEVERITIES[result.severity], key.asset_key.to_user_string(), text)
