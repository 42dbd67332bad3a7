"""A stream over a store that grows: every message once in a Delta table, whatever ends in between."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake

from tests.support.build_store import StoreBuilder

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark
SCHEMA = "physical_offset BIGINT, topic STRING, queue_offset BIGINT"
STREAM = "orders"


def kept(table: Path) -> list[int]:
    return sorted(DeltaTable(table).to_pyarrow_table()["physical_offset"].to_pylist())


def read(spark: SparkSession, store: Path) -> list[int]:
    frame = spark.read.format("rocketmq_commitlog").schema(SCHEMA).option("store", str(store)).load()
    return sorted(row.physical_offset for row in frame.collect())


def run(spark: SparkSession, store: Path, table: Path, *, dies: bool = False) -> None:
    """Bring a table up to date; `dies`: after it was written, before Spark notes that."""

    def into_delta(rows: DataFrame, batch: int) -> None:
        done = DeltaTable(table).transaction_version(STREAM) if DeltaTable.is_deltatable(str(table)) else None
        if done is None or done < batch:
            once = CommitProperties(app_transactions=[Transaction(STREAM, batch)])
            write_deltalake(table, rows.toArrow(), mode="append", commit_properties=once)
        if dies:
            raise RuntimeError("the process ends here")

    stream = spark.readStream.format("rocketmq_commitlog").schema(SCHEMA).option("store", str(store)).load()
    writer = stream.writeStream.foreachBatch(into_delta).option("checkpointLocation", str(table) + ".checkpoint")
    query = writer.trigger(availableNow=True).start()
    try:
        query.awaitTermination()
    except Exception:
        if not dies:
            raise


def grown(store: StoreBuilder, topic: str, count: int) -> Path:
    for name in ("consumequeue", "index"):
        shutil.rmtree(store.root / name, ignore_errors=True)
    for _ in range(count):
        store.put(topic)
    return store.finish()


def test_each_message_comes_once_across_restarts(spark: SparkSession, tmp_path: Path) -> None:
    store, table = StoreBuilder(tmp_path / "store"), tmp_path / "table"
    run(spark, grown(store, "Orders", 5), table)
    assert kept(table) == read(spark, tmp_path / "store")
    run(spark, grown(store, "Orders", 4), table, dies=True)
    assert len(kept(table)) == 9
    run(spark, grown(store, "Payments", 3), table)
    assert kept(table) == read(spark, tmp_path / "store")
    assert len(kept(table)) == 12
    run(spark, tmp_path / "store", table)
    assert len(kept(table)) == 12


def test_a_log_that_lost_what_is_to_be_read_is_said(spark: SparkSession, tmp_path: Path) -> None:
    from pipelines.spark.sources.commitlog import CommitLogReader
    from pipelines.spark.sources.commitlog_stream import AT, CommitLogStream

    store = StoreBuilder(tmp_path / "store", base_offset=1 << 20)
    stream = CommitLogStream(
        CommitLogReader, {"store": str(grown(store, "Orders", 5))}, ["topic"], "commitlog_messages"
    )
    reached = stream.latestOffset(stream.initialOffset(), stream.getDefaultReadLimit())
    with pytest.raises(ValueError, match="the broker has deleted"):
        stream.partitions({AT: 0}, reached)
    with pytest.raises(ValueError, match="its end was cut"):
        stream.latestOffset({AT: reached[AT] + 1}, stream.getDefaultReadLimit())
    assert stream.partitions(reached, reached) == []
