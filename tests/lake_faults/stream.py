"""`python -m tests.lake_faults.stream STORE TABLE [before|after NUMBER]`: messages of a store into a Delta table, by a
stream in several batches; killed right before or after it has put the batch of a number into the table.

It goes on where the process before it ended, and ends with 1 where the table does not hold each message once.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake

from parsers.store.store import open_store
from recovery.query.watermark import watermark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SCHEMA = "physical_offset BIGINT, topic STRING, queue_offset BIGINT"
NAME = "orders"
BATCHES = 3


def streamed(spark: SparkSession, store: Path, table: Path, kill: tuple[str, int] | None) -> None:
    """Bring a table up to date, as docs/lake.md has it."""

    def struck(when: str, batch: int) -> None:
        if kill == (when, batch):
            os.killpg(0, signal.SIGKILL)  # Java and the workers, too

    def into_delta(rows: DataFrame, batch: int) -> None:
        struck("before", batch)
        done = DeltaTable(table).transaction_version(NAME) if DeltaTable.is_deltatable(str(table)) else None
        if done is None or done < batch:
            once = CommitProperties(app_transactions=[Transaction(NAME, batch)])
            write_deltalake(table, rows.toArrow(), mode="append", commit_properties=once)
        struck("after", batch)

    end = watermark(open_store(store)).physical_offset
    for number in range(1, BATCHES + 1):
        source = spark.readStream.format("rocketmq_commitlog").schema(SCHEMA).option("store", str(store))
        rows = source.option("max_physical_offset", str(end * number // BATCHES)).load()
        writer = rows.writeStream.foreachBatch(into_delta).option("checkpointLocation", f"{table}.checkpoint")
        writer.trigger(availableNow=True).start().awaitTermination()


def wrong(spark: SparkSession, store: Path, table: Path) -> str | None:
    """What the table lacks, or has twice."""
    batch = spark.read.format("rocketmq_commitlog").schema(SCHEMA).option("store", str(store)).load()
    there = sorted(batch.toArrow()["physical_offset"].to_pylist())
    kept = sorted(DeltaTable(table).to_pyarrow_table()["physical_offset"].to_pylist())
    if there and kept == there:
        return None
    return f"{len(there)} messages, {len(kept)} rows, {len(set(kept))} of them different ones"


def main(arguments: list[str]) -> int:
    from pipelines.spark.session import spark_session

    store, table, *struck = arguments
    spark = spark_session("local[2]", short_lived=True)
    streamed(spark, Path(store), Path(table), (struck[0], int(struck[1])) if struck else None)
    if told := wrong(spark, Path(store), Path(table)):
        print(told, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    ended = main(sys.argv[1:])
    sys.stderr.flush()
    os._exit(ended)  # the thread that Spark calls may be in Arrow still, and Python's own end would abort it there
