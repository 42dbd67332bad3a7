"""The derived tables that are made store by store: one Spark task per broker, one Delta transaction for all."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipelines.lake import Lake
from pipelines.sources import BrokerSource
from pipelines.spark.source import spark_schema
from pipelines.spark.transfer import save
from pipelines.tables import TABLES

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession


def judge_brokers(spark: SparkSession, lake: Lake, table: str, brokers: Sequence[BrokerSource]) -> int:
    """Make a derived table anew for these brokers, which is the whole table afterwards; its rows."""
    asked = [(json_of(broker),) for broker in brokers]
    frame = spark.createDataFrame(asked, "broker STRING").repartition(max(1, len(asked)))
    judged = frame.mapInArrow(_Judge(table), spark_schema(TABLES[table].bare_schema))
    save(judged, lake, table, replaced=None)
    return lake.rows(table)


class _Judge:
    """Called in a worker with batches of brokers; its rows are those of the table."""

    def __init__(self, table: str) -> None:
        self.table = table

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        from pipelines.judgements import JUDGES

        schema = TABLES[self.table].bare_schema
        for batch in batches:
            for text in batch.column("broker").to_pylist():
                yield pa.RecordBatch.from_pylist(JUDGES[self.table](broker_of(text)), schema=schema)


def json_of(broker: BrokerSource) -> str:
    """A broker's source as text, for the way to a worker."""
    return json.dumps({name: _plain(value) for name, value in asdict(broker).items()})


def broker_of(text: str) -> BrokerSource:
    """The opposite of `json_of`."""
    row: dict[str, Any] = json.loads(text)
    places = {name: Path(row[name]) for name in ("store", "logs", "broker_conf") if row[name] is not None}
    return BrokerSource(**{**row, **places})


def _plain(value: object) -> object:
    return value if value is None or isinstance(value, str | int | dict) else str(value)
