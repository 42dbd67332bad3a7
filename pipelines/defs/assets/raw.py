"""Raw tables: the files of the stores as rows, one partition per store file."""

from collections import defaultdict
from collections.abc import Sequence

import dagster as dg

from pipelines.defs.assets.evidence import read_from
from pipelines.defs.care import cared_for
from pipelines.defs.lakehouse import SPARK_POOL, Lakehouse
from pipelines.defs.metadata import column_schema, table_metadata
from pipelines.defs.partitions import FILE_PARTITIONS, TABLES_BY_PARTITION
from pipelines.defs.plots import plot_of
from pipelines.ingest.file_names import split_key
from pipelines.lake.tables.raw_table import FileTable


def raw_asset(table: FileTable) -> dg.AssetsDefinition:
    """The asset of one raw table; several partitions of one run are one Spark job and one Delta transaction."""
    name = table.name

    @dg.asset(
        name=name,
        deps=read_from(table.files),
        partitions_def=FILE_PARTITIONS[name],
        backfill_policy=dg.BackfillPolicy.single_run(),
        description=f"One row: {table.grain}. Partitioned by store file; running a partition again replaces its rows.",
        metadata={"dagster/column_schema": column_schema(table)},
        kinds={"spark", "deltalake"},
        pool=SPARK_POOL,
        **cared_for("store"),
    )
    def built(context: dg.AssetExecutionContext, lakehouse: Lakehouse) -> dg.MaterializeResult[None]:
        from pipelines.ingest.ingest import ingest_files

        lake, keys = lakehouse.lake(), list(context.partition_keys)
        unread = []
        asked = by_broker(keys)
        with lakehouse.writing(name), lakehouse.stores(asked) as sources:
            for broker, files in asked.items():
                told = ingest_files(
                    lakehouse.spark(), lake, sources.broker(broker), table, files, bodies=sources.bodies
                )
                unread += [f"{broker}: {file}" for file in told]
        held = lake.file_rows(name)
        rows = {key: held[split_key(key)] for key in keys}
        if len(keys) > 1:
            for key in keys:
                context.add_asset_metadata({"dagster/partition_row_count": rows[key]}, partition_key=key)
        not_read = "; ".join(unread) or "none"
        metadata = table_metadata(lake, table, held.total(), **plot_of(lake, name), not_read=not_read)
        return dg.MaterializeResult(metadata=metadata)

    return built


def by_broker(keys: Sequence[str]) -> dict[str, list[str]]:
    """Partition keys as files per broker."""
    files: dict[str, list[str]] = defaultdict(list)
    for key in keys:
        broker, file = split_key(key)
        files[broker].append(file)
    return dict(files)


RAW_ASSETS = [raw_asset(table) for tables in TABLES_BY_PARTITION.values() for table in tables]
