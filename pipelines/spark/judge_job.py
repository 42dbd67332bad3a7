"""The derived tables that are made store by store: one Spark task per broker, one Delta transaction for all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pipelines.lake import Lake
from pipelines.sources import BrokerSource
from pipelines.spark.transfer import write_table
from pipelines.tables import TABLES

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession


def judge_brokers(spark: SparkSession, lake: Lake, table: str, brokers: Sequence[BrokerSource]) -> int:
    """Make a derived table anew for these brokers, which is the whole table afterwards; its rows."""
    write_table(spark, lake, table, [JudgeWork(table, broker) for broker in brokers], replaced=None)
    return lake.rows(table)


@dataclass(frozen=True, slots=True)
class JudgeWork:
    """Make the rows of a derived table for one broker."""

    table: str
    broker: BrokerSource

    def __call__(self) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        from pipelines.judgements import JUDGES

        yield pa.RecordBatch.from_pylist(JUDGES[self.table](self.broker), schema=TABLES[self.table].bare_schema)
