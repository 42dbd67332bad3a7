"""From a broker's store into a table of the lake: what there is to read as work for Spark's tasks, and its commit."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql.datasource import InputPartition

from pipelines.lake.lake import Lake
from pipelines.lake.sources import BrokerSource
from pipelines.lake.tables.raw import TABLES
from pipelines.spark.delta_writer import WORK, Work
from pipelines.spark.sources.registry import source_of
from pipelines.spark.sources.source import StoreReader

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class SliceWork:
    """Read one slice of a store."""

    reader: StoreReader
    slice_: InputPartition

    def __call__(self) -> Iterator[pa.RecordBatch]:
        return self.reader.read(self.slice_)


def slices_of(
    broker: BrokerSource, table: str, files: Sequence[str] | None = None, options: Mapping[str, str] | None = None
) -> list[Work]:
    """The slices that the data source of a table cuts one broker's store into: named files of it (paths below the
    root), or all; `options` are the data source's."""
    given = {"store": str(broker.store), "broker": broker.name, **(options or {})}
    if broker.version is not None:
        given["version"] = broker.version
    if broker.broker_conf is not None:
        given["broker_conf"] = str(broker.broker_conf)
    if broker.settings:
        given["settings"] = json.dumps(dict(broker.settings))
    if files is not None:
        given["files"] = json.dumps(list(files))
    reader = source_of(table).reader_class(given, TABLES[table].bare_schema.names, table)
    return [SliceWork(reader, slice_) for slice_ in reader.partitions()]


def write_table(
    spark: SparkSession, lake: Lake, table: str, work: Sequence[Work], replaced: Iterable[tuple[str, ...]] | None
) -> None:
    """Do the work on Spark, a task for each, and commit the rows it makes, those of `table`, in one Delta transaction.

    Args:
        replaced: partitions whose present rows go with it (see pipelines.lake.delta.commit).
    """
    rows = spark.sparkContext.parallelize([(pickle.dumps(one),) for one in work], max(1, len(work)))
    partitions = None if replaced is None else [list(partition) for partition in replaced]
    writer = spark.createDataFrame(rows, WORK).write.format("rocketlens_delta").mode("append")
    writer.options(table=table, root=str(lake.table_root(table)), replaces=json.dumps(partitions)).save()
