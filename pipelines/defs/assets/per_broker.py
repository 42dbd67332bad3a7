"""Raw tables with few rows, partitioned by broker: file list, queues, checkpoint, snapshots of the configuration."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import dagster as dg

from parsers.store.places import name_below
from pipelines.defs.assets.evidence import evidence, read_from
from pipelines.defs.care import cared_for
from pipelines.defs.lakehouse import SPARK_POOL, Lakehouse
from pipelines.defs.metadata import column_schema, table_metadata
from pipelines.defs.partitions import BROKERS, FILE_PARTITIONS
from pipelines.defs.plots import plot_of
from pipelines.ingest.ingested import IngestedFiles
from pipelines.lake.configuration.broker_stores import store_of
from pipelines.lake.configuration.sources import BrokerSource
from pipelines.lake.lake import Lake
from pipelines.lake.tables.raw import FILE_TABLES, QUEUES, SNAPSHOT_TABLES, STORE_FILES
from pipelines.lake.tables.raw_table import FileTable
from pipelines.lake.tables.table import Table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Refresh = Callable[["SparkSession", Lake, BrokerSource], Sequence[str]]
"""Makes one broker's rows anew; a sentence for each file that could not be read."""


def refresh_files(spark: "SparkSession", lake: Lake, broker: BrokerSource) -> list[str]:
    """Hash the files that changed since their row was written; say which are gone."""
    from pipelines.ingest.gone_files import mark_gone
    from pipelines.ingest.ingest import ingest_files

    store = store_of(broker)
    ingested = IngestedFiles.load(lake, broker.name)
    stale = ingested.stale(STORE_FILES.name, store, STORE_FILES.files.of(store))
    unread = ingest_files(spark, lake, broker, STORE_FILES, stale, ingested=ingested)
    ingested.save()
    mark_gone(lake, broker, store)
    return unread


def refresh_of(table: FileTable) -> Refresh:
    """What reads the files of a table as they are now."""

    def refresh(spark: "SparkSession", lake: Lake, broker: BrokerSource) -> list[str]:
        from pipelines.ingest.ingest import ingest_files

        store = store_of(broker)
        names = [name_below(store.root, file.path) for file in table.files.of(store)]
        return ingest_files(spark, lake, broker, table, names)

    return refresh


def refresh_queues(spark: "SparkSession", lake: Lake, broker: BrokerSource) -> list[str]:
    """Sum up every queue as it is now."""
    from pipelines.ingest.ingest import ingest_queues

    return ingest_queues(spark, lake, broker, store_of(broker))


def broker_asset(table: Table, refresh: Refresh, deps: Sequence[dg.AssetKey]) -> dg.AssetsDefinition:
    """The asset of a table that is refreshed broker by broker."""

    @dg.asset(
        name=table.name,
        deps=deps,
        partitions_def=BROKERS,
        backfill_policy=dg.BackfillPolicy.single_run(),
        description=f"One row: {table.grain}. Partitioned by broker.",
        metadata={"dagster/column_schema": column_schema(table)},
        kinds={"spark", "deltalake"},
        pool=SPARK_POOL,
        **cared_for("store"),
    )
    def built(context: dg.AssetExecutionContext, lakehouse: Lakehouse) -> dg.MaterializeResult[None]:
        lake, unread = lakehouse.lake(), list[str]()
        with lakehouse.writing(table.name), lakehouse.stores(context.partition_keys) as sources:
            for name in context.partition_keys:
                told = refresh(lakehouse.spark(), lake, sources.broker(name))
                unread += [f"{name}: {sentence}" for sentence in told]
        plots, not_read = plot_of(lake, table.name), "; ".join(unread) or "none"
        metadata = table_metadata(lake, table, lake.rows(table.name), **plots, not_read=not_read)
        return dg.MaterializeResult(metadata=metadata)

    return built


@dg.multi_asset(
    specs=[
        dg.AssetSpec(
            table.name,
            description=f"One row: {table.grain}. History: a snapshot is kept when the broker has written one.",
            metadata={"dagster/column_schema": column_schema(table)},
            kinds={"spark", "deltalake"},
            deps=evidence("config"),
            **cared_for("config"),
        )
        for table in SNAPSHOT_TABLES
    ],
    name="config_snapshots",
    partitions_def=BROKERS,
    backfill_policy=dg.BackfillPolicy.single_run(),
    pool=SPARK_POOL,
)
def config_snapshots(context: dg.AssetExecutionContext, lakehouse: Lakehouse) -> Iterator[dg.MaterializeResult[None]]:
    """Keep what the brokers have written to config/*.json since the last snapshot."""
    from pipelines.ingest.config_snapshots import snapshot_config

    lake = lakehouse.lake()
    with lakehouse.writing("config_snapshots"), lakehouse.stores(context.partition_keys) as sources:
        for name in context.partition_keys:
            snapshot_config(lakehouse.spark(), lake, sources.broker(name))
    for table in SNAPSHOT_TABLES:
        metadata = table_metadata(lake, table, lake.rows(table.name), **plot_of(lake, table.name))
        yield dg.MaterializeResult(asset_key=table.name, metadata=metadata)


BROKER_ASSETS = [
    broker_asset(STORE_FILES, refresh_files, read_from(STORE_FILES.files)),
    broker_asset(QUEUES, refresh_queues, evidence("commitlog", "consumequeue")),
    *(
        broker_asset(table, refresh_of(table), read_from(table.files))
        for table in FILE_TABLES
        if table is not STORE_FILES and table.name not in FILE_PARTITIONS
    ),
    config_snapshots,
]
