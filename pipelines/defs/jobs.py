"""What can be run: the files of one kind, the small tables of a broker, its configuration, everything derived."""

from __future__ import annotations

from collections.abc import Sequence

import dagster as dg
from dagster._core.definitions.unresolved_asset_job_definition import UnresolvedAssetJobDefinition

from pipelines.defs.partitions import FILE_PARTITIONS, TABLES_BY_PARTITION
from pipelines.lake.tables.raw import FILE_TABLES, QUEUES, SNAPSHOT_TABLES
from pipelines.lake.tables.raw_table import FileTable

BROKER_TABLES = tuple(table.name for table in (*FILE_TABLES, QUEUES) if table.name not in FILE_PARTITIONS)
CONFIG_TABLES = tuple(table.name for table in SNAPSHOT_TABLES)


def _file_job(partition: str, tables: Sequence[FileTable]) -> UnresolvedAssetJobDefinition:
    names = [table.name for table in tables]
    return dg.define_asset_job(
        f"ingest_{partition}s",
        selection=dg.AssetSelection.assets(*names),
        description=f"Bring {' and '.join(names)} up to date with some store files.",
    )


FILE_JOBS = {name: _file_job(name, tables) for name, tables in TABLES_BY_PARTITION.items()}
STORE_JOB = dg.define_asset_job(
    "ingest_store",
    selection=dg.AssetSelection.assets(*BROKER_TABLES),
    description="Bring the file list, queues and checkpoint of a broker up to date.",
)
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
