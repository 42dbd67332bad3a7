"""The one Definitions object: what `dagster dev -w workspace.yaml` shows."""

from __future__ import annotations

import dagster as dg

from pipelines.defs.assets.evidence import EVIDENCE
from pipelines.defs.assets.judged import JUDGED_ASSETS, replica_differences
from pipelines.defs.assets.lag import lag, lag_episodes, lag_history
from pipelines.defs.assets.ownership import replayed_ownership
from pipelines.defs.assets.per_broker import BROKER_ASSETS
from pipelines.defs.assets.raw import RAW_ASSETS
from pipelines.defs.checks import STORE_CHECKS
from pipelines.defs.lakehouse import Lakehouse
from pipelines.defs.runs.alerts import failed_check_alert
from pipelines.defs.runs.ingest_job import ingest_broker
from pipelines.defs.runs.jobs import DERIVED_JOB, SNAPSHOT_JOB
from pipelines.defs.runs.schedules import config_snapshot_schedule
from pipelines.defs.runs.sensors import store_files_sensor

DERIVED_ASSETS = [lag, lag_history, lag_episodes, *JUDGED_ASSETS, replica_differences, replayed_ownership]

defs = dg.Definitions(
    assets=[*EVIDENCE, *RAW_ASSETS, *BROKER_ASSETS, *DERIVED_ASSETS],
    asset_checks=STORE_CHECKS,
    jobs=[ingest_broker, SNAPSHOT_JOB, DERIVED_JOB],
    sensors=[store_files_sensor, failed_check_alert],
    schedules=[config_snapshot_schedule],
    resources={"lakehouse": Lakehouse()},
    executor=dg.in_process_executor,  # every step of a run shares one Spark session
)
