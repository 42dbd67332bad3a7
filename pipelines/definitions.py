"""The one Definitions object: what `dagster dev -w workspace.yaml` shows."""

from __future__ import annotations

import dagster as dg

from pipelines.assets.judged import JUDGED_ASSETS
from pipelines.assets.lag import lag, lag_history
from pipelines.assets.ownership import replayed_ownership
from pipelines.assets.per_broker import BROKER_ASSETS
from pipelines.assets.raw import RAW_ASSETS
from pipelines.checks.store import STORE_CHECKS
from pipelines.jobs import DERIVED_JOB, FILE_JOBS, SNAPSHOT_JOB, STORE_JOB
from pipelines.resources.lakehouse import Lakehouse
from pipelines.schedules import config_snapshot_schedule
from pipelines.sensors import store_files_sensor

DERIVED_ASSETS = [lag, lag_history, *JUDGED_ASSETS, replayed_ownership]

defs = dg.Definitions(
    assets=[*RAW_ASSETS, *BROKER_ASSETS, *DERIVED_ASSETS],
    asset_checks=STORE_CHECKS,
    jobs=[*FILE_JOBS.values(), STORE_JOB, SNAPSHOT_JOB, DERIVED_JOB],
    sensors=[store_files_sensor],
    schedules=[config_snapshot_schedule],
    resources={"lakehouse": Lakehouse()},
    executor=dg.in_process_executor,  # every step of a run shares one Spark session
)
