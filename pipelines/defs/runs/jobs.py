"""What can be run of assets by name: the configuration of a broker, everything derived."""

from __future__ import annotations

import dagster as dg

from pipelines.defs.partitions import FILE_PARTITIONS
from pipelines.lake.tables.raw import FILE_TABLES, QUEUES, SNAPSHOT_TABLES

BROKER_TABLES = tuple(table.name for table in (*FILE_TABLES, QUEUES) if table.name not in FILE_PARTITIONS)
CONFIG_TABLES = tuple(table.name for table in SNAPSHOT_TABLES)

SNAPSHOT_JOB = dg.define_asset_job(
    "snapshot_config",
    selection=dg.AssetSelection.assets(*CONFIG_TABLES),
    description="Keep the offsets and configuration a broker has written since the last snapshot.",
)
DERIVED_JOB = dg.define_asset_job(
    "derive",
    selection=dg.AssetSelection.groups("lag", "consistency", "recovery", "ownership"),
    description="Recompute every derived table.",
)
