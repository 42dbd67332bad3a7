"""What can be run: the files of one kind, the small tables of a broker, its configuration, everything derived."""

from __future__ import annotations

import dagster as dg
from dagster._core.definitions.unresolved_asset_job_definition import UnresolvedAssetJobDefinition

from pipelines.defs.partitions import TABLES_BY_PARTITION

BROKER_TABLES = ("store_files", "queues", "checkpoints")
SNAPSHOT_TABLES = ("topic_configs", "group_configs", "offset_snapshots")


def _file_job(partition: str, tables: tuple[str, ...]) -> UnresolvedAssetJobDefinition:
    return dg.define_asset_job(
        f"ingest_{partition}s",
        selection=dg.AssetSelection.assets(*tables),
        description=f"Bring {' and '.join(tables)} up to date with some store files.",
    )


FILE_JOBS = {name: _file_job(name, tables) for name, tables in TABLES_BY_PARTITION.items()}
STORE_JOB = dg.define_asset_job(
    "ingest_store",
    selection=dg.AssetSelection.assets(*BROKER_TABLES),
    description="Bring the file list, queues and checkpoint of a broker up to date.",
)
SNAPSHOT_JOB = dg.define_asset_job(
    "snapshot_config",
    selection=dg.AssetSelection.assets(*SNAPSHOT_TABLES),
    description="Keep the offsets and configuration a broker has written since the last snapshot.",
)
DERIVED_JOB = dg.define_asset_job(
    "derive",
    selection=dg.AssetSelection.groups("lag", "consistency", "recovery", "ownership"),
    description="Recompute every derived table.",
)
