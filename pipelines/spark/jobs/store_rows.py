"""The derived tables that are made store by store: one Spark task per broker, one Delta transaction for all.

What takes long of a verification, the pass over the log, is done in slices before, by as many tasks as there are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pipelines.lake.configuration.addressed_stores import at_hand
from pipelines.lake.configuration.sources import BrokerSource
from pipelines.lake.lake import Lake
from pipelines.lake.tables.raw import TABLES
from pipelines.spark.sources.slices import DEFAULT_SPLIT_BYTES
from pipelines.spark.transfer import Work, write_table

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

    from recovery.verify.in_motion import SlicedPass


def judge_brokers(
    spark: SparkSession,
    lake: Lake,
    table: str,
    brokers: Sequence[BrokerSource],
    *,
    unchanged: Collection[str] = (),
    split_bytes: int = DEFAULT_SPLIT_BYTES,
) -> int:
    """Make a derived table anew for these brokers; its rows. What it holds of others goes, but for those `unchanged`.

    `split_bytes`: about how much of a log one task reads, where a log is read in slices.
    """
    replaced = {(broker.name,) for broker in brokers} | {
        partition for partition in lake.partition_rows(table) if partition[0] not in unchanged
    }
    if not replaced and lake.version(table) is not None:
        return lake.rows(table)
    from pipelines.answers.derived.store_rows import SLICED
    from pipelines.spark.jobs.first_pass import outlines  # these bring all engines, which nothing unchanged needs

    work: list[Work] = [JudgeWork(table, broker) for broker in brokers]
    if table in SLICED:
        read = zip(brokers, outlines(spark, brokers, split_bytes), strict=True)
        work = [SlicedWork(table, *pair) for pair in read]
    write_table(spark, lake, table, work, replaced=replaced)
    return lake.rows(table)


@dataclass(frozen=True, slots=True)
class JudgeWork:
    """Make the rows of a derived table for one broker."""

    table: str
    broker: BrokerSource

    def __call__(self) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        from pipelines.answers.derived.store_rows import JUDGES, STREAMS

        with at_hand(self.broker.view):
            if self.table in STREAMS:
                yield from STREAMS[self.table](self.broker)
                return
            yield pa.RecordBatch.from_pylist(JUDGES[self.table](self.broker), schema=TABLES[self.table].bare_schema)


@dataclass(frozen=True, slots=True)
class SlicedWork:
    """Make the rows of a derived table from what the first pass found in the slices of one broker's log."""

    table: str
    broker: BrokerSource
    told: SlicedPass | None

    def __call__(self) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        from pipelines.answers.derived.store_rows import SLICED

        with at_hand(self.broker.view):
            rows = SLICED[self.table](self.broker, self.told)
        yield pa.RecordBatch.from_pylist(rows, schema=TABLES[self.table].bare_schema)
