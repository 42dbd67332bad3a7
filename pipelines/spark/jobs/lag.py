"""Lag from the lake: small tables on the driver, the search for the unread messages' times in Spark."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from pipelines.answers.lag import lag_record
from pipelines.lake.lake import Lake
from pipelines.lake.tables.derived import LAG
from recovery.query.hidden_queues import every_queue
from recovery.query.lag import GroupQueue, QueueMessage, lag_rows, unread_messages

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LATEST_OFFSETS = """
SELECT * FROM offset_snapshots
WHERE broker = $broker AND kind <> 'pull'
QUALIFY written_at = max(written_at) OVER (PARTITION BY replace(file, '.bak', ''))
"""
LATEST_TOPICS = """
SELECT topic, read_queue_nums FROM topic_configs
WHERE broker = $broker
QUALIFY written_at = max(written_at) OVER ()
"""
QUEUE_ENDS = "SELECT topic, queue_id, min_queue_offset, max_queue_offset FROM queues WHERE broker = $broker"
NEWEST_MESSAGE = "SELECT max(store_timestamp) AS newest FROM commitlog_messages WHERE broker = $broker"
MESSAGE_TIMES = """
SELECT wanted.topic, wanted.queue_id, wanted.queue_offset,
       unix_millis(min(messages.store_timestamp)) AS stored_ms
FROM {wanted} AS wanted
JOIN {units} AS units USING (topic, queue_id, queue_offset)
JOIN {messages} AS messages ON messages.physical_offset = units.physical_offset
WHERE units.broker = :broker AND messages.broker = :broker
GROUP BY ALL
"""


def broker_lag(spark: SparkSession, lake: Lake, broker: str) -> pa.Table:
    """The rows of `lag` for one broker: at the instant its offsets were written, or its newest message was stored if
    that is later. No rows without a snapshot of offsets: nothing is known to be behind."""
    offsets = lake.query(LATEST_OFFSETS, broker=broker).to_pylist()
    if not offsets:
        return LAG.bare_schema.empty_table()
    queues = queues_in_lake(lake, broker, offsets)
    newest = lake.query(NEWEST_MESSAGE, broker=broker).to_pylist()[0]["newest"]
    at = max([row["written_at"] for row in offsets] + ([newest] if newest is not None else []))
    times = message_times(spark, lake, broker, unread_messages(queues))
    rows = lag_rows(queues, times, int(at.timestamp() * 1000))
    return pa.Table.from_pylist([lag_record(row, broker=broker) for row in rows], schema=LAG.bare_schema)


def queues_in_lake(lake: Lake, broker: str, offsets: list[dict[str, Any]]) -> list[GroupQueue]:
    """What the tables of the lake say about every queue that counts for a group."""
    table: dict[tuple[str, str], dict[int, int]] = defaultdict(dict)
    for row in offsets:
        table[row["group"], row["topic"]][row["queue_id"]] = row["consumer_offset"]
    topics = {row["topic"]: row["read_queue_nums"] for row in lake.query(LATEST_TOPICS, broker=broker).to_pylist()}
    ends = {
        (row["topic"], row["queue_id"]): (row["min_queue_offset"], row["max_queue_offset"])
        for row in lake.query(QUEUE_ENDS, broker=broker).to_pylist()
    }
    return every_queue(table, topics, ends)


def message_times(spark: SparkSession, lake: Lake, broker: str, wanted: set[QueueMessage]) -> dict[QueueMessage, int]:
    """Store timestamps, epoch milliseconds, of messages by their place in a queue; those not found are left out."""
    if not wanted:
        return {}
    places = spark.createDataFrame(sorted(wanted), "topic STRING, queue_id INT, queue_offset BIGINT")
    found = spark.sql(
        MESSAGE_TIMES,
        args={"broker": broker},
        wanted=places,
        units=lake.frame(spark, "consumequeue_units"),
        messages=lake.frame(spark, "commitlog_messages"),
    )
    return {(row.topic, row.queue_id, row.queue_offset): row.stored_ms for row in found.collect()}


def lag_of_brokers(spark: SparkSession, lake: Lake, unchanged: Collection[str] = ()) -> Iterator[tuple[str, pa.Table]]:
    """(broker, rows) for every broker with offsets in the lake that is not `unchanged`."""
    for row in lake.query("SELECT DISTINCT broker FROM offset_snapshots ORDER BY 1").to_pylist():
        if row["broker"] not in unchanged:
            yield row["broker"], broker_lag(spark, lake, row["broker"])


def write_lag(spark: SparkSession, lake: Lake, *, unchanged: Collection[str] = ()) -> int:
    """Make the table `lag` anew for every broker with offsets in the lake, but for those `unchanged`; its rows."""
    found = [rows for _, rows in lag_of_brokers(spark, lake, unchanged)]
    present = lake.partition_rows(LAG.name)
    replaced: set[tuple[str, ...]] = {(rows["broker"][0].as_py(),) for rows in found if rows.num_rows}
    replaced |= {partition for partition in present if partition[0] not in unchanged}
    if found or replaced or lake.version(LAG.name) is None:
        rows = pa.concat_tables(found) if found else LAG.bare_schema.empty_table()
        lake.write(LAG.name, rows, replaced=sorted(replaced))
    return lake.rows(LAG.name)
