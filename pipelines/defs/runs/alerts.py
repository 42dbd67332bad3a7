"""The sensor that tells the webhook of failed checks."""

from __future__ import annotations

import dagster as dg
from dagster._core.storage.asset_check_execution_record import AssetCheckExecutionRecord

from pipelines.defs.checks import STORE_CHECKS
from pipelines.defs.lakehouse import Lakehouse
from pipelines.lake.alert import Trouble, tell_of_lake

SEVERITIES = {dg.AssetCheckSeverity.ERROR: "error", dg.AssetCheckSeverity.WARN: "warning"}


@dg.sensor(
    minimum_interval_seconds=60,
    description="Posts to the webhook of rocketlens.toml when other checks fail than did before, and when none does.",
)
def failed_check_alert(context: dg.SensorEvaluationContext, lakehouse: Lakehouse) -> dg.SkipReason:
    """Looks at the latest result of each check, whoever evaluated it: a run, or `rocketlens ingest`. What a check
    that is being evaluated, or could not be, said before still holds."""
    sources = lakehouse.sources()
    if sources.webhook is None:
        return dg.SkipReason("rocketlens.toml names no webhook in [alert]")
    told = latest_results(context.instance)
    failed = [_trouble(key, result) for key, result in told.items() if result is not None and not result.passed]
    unknown = {_named(key) for key, result in told.items() if result is None}

    def looked_at(trouble: Trouble) -> bool:
        return (trouble.where, trouble.what) not in unknown

    if why := tell_of_lake(sources.webhook, sources.lake, "check", failed, looked_at):
        context.log.warning(why)
        return dg.SkipReason(why)
    return dg.SkipReason(f"{len(failed)} checks fail now; the webhook knows")


def latest_results(instance: dg.DagsterInstance) -> dict[dg.AssetCheckKey, dg.AssetCheckEvaluation | None]:
    """By check what it said last; None of one that has not said anything, or is being evaluated, or could not be."""
    keys = [key for check in STORE_CHECKS for key in check.check_keys]
    latest = instance.event_log_storage.get_latest_asset_check_execution_by_key(keys)
    return {key: _result(latest.get(key)) for key in keys}


def _result(record: AssetCheckExecutionRecord | None) -> dg.AssetCheckEvaluation | None:
    entry = None if record is None or record.event is None else record.event.dagster_event
    if entry is None or entry.event_type_value != dg.DagsterEventType.ASSET_CHECK_EVALUATION.value:
        return None
    return entry.asset_check_evaluation_data


def _trouble(key: dg.AssetCheckKey, result: dg.AssetCheckEvaluation) -> Trouble:
    where, what = _named(key)
    return Trouble(what, SEVERITIES[result.severity], where, result.description or f"the check {what} fails")


def _named(key: dg.AssetCheckKey) -> tuple[str, str]:
    return key.asset_key.to_user_string(), key.name
