"""From a broker's store into a table of the lake: the data source on one side, the Delta writer on the other."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from pipelines.lake import Lake
from pipelines.sources import BrokerSource
from pipelines.spark.registry import source_of
from pipelines.spark.source import spark_schema
from pipelines.tables import TABLES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def source_frame(
    spark: SparkSession, broker: BrokerSource, table: str, files: Sequence[str] | None, options: Mapping[str, str]
) -> DataFrame:
    """The data source of a table over one broker's store: named files of it (paths below the root), or all."""
    reader = spark.read.format(source_of(table).name()).schema(spark_schema(TABLES[table].bare_schema))
    reader = reader.option("store", str(broker.store)).option("broker", broker.name)
    if broker.version is not None:
        reader = reader.option("version", broker.version)
    if files is not None:
        reader = reader.option("files", json.dumps(list(files)))
    return reader.options(**options).load()


def save(frame: DataFrame, lake: Lake, table: str, replaced: Iterable[tuple[str, ...]] | None) -> None:
    """Write a DataFrame with the columns of `table` in one Delta transaction (see pipelines.delta.commit)."""
    partitions = None if replaced is None else [list(partition) for partition in replaced]
    writer = frame.write.format("rocketlens_delta").mode("append")
    writer.options(table=table, root=str(lake.table_root(table)), replaces=json.dumps(partitions)).save()
