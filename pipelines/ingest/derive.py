"""The derived tables of a lake, made anew: lag, agreement, forecasts, retention, ownership."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pyarrow as pa

from parsers.store import NotAStore
from pipelines.answers.replica_rows import replica_rows
from pipelines.lake.broker_stores import store_of
from pipelines.lake.catalog import question
from pipelines.lake.lake import Lake, lake_to_write
from pipelines.lake.sources import BrokerSource, Sources
from pipelines.lake.tables.derived import (
    CONSISTENCY_FINDINGS,
    LAG,
    LAG_HISTORY,
    LOSS_LEDGER,
    OFFSET_EVENTS,
    RECOVERY_FORECAST,
    REPLICA_DIFFERENCES,
    RETENTION_RISK,
)
from pipelines.lake.tables.ownership import OWNERSHIP_INTERVALS
from pipelines.spark.jobs.lag import write_lag
from pipelines.spark.jobs.ownership import evidence_paths, replay_sources
from pipelines.spark.jobs.store_rows import judge_brokers

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

JUDGED = (CONSISTENCY_FINDINGS, RECOVERY_FORECAST, RETENTION_RISK, LOSS_LEDGER, OFFSET_EVENTS)


@dataclass(slots=True)
class Derived:
    """Rows by table, and what of the logs and captures could not be read."""

    rows: dict[str, int] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


def derive(spark: SparkSession, sources: Sources, progress: Callable[[str], None] = lambda table: None) -> Derived:
    """Make every derived table from the lake, the stores, and the logs and captures of the configuration.

    A store that is not there has no rows in the tables that are made from its files; without logs and captures the
    ownership tables are left as they are.

    Args:
        progress: told the name of each table before it is made; of the ownership tables the one of intervals.
    """
    lake, made = lake_to_write(sources), Derived()
    progress(LAG.name)
    made.rows[LAG.name] = write_lag(spark, lake)
    progress(LAG_HISTORY.name)
    made.rows[LAG_HISTORY.name] = write_lag_history(lake)
    there, _ = readable(sources.brokers)
    for table in JUDGED:
        progress(table.name)
        made.rows[table.name] = judge_brokers(spark, lake, table.name, there)
    if sources.replicas:
        progress(REPLICA_DIFFERENCES.name)
        made.rows[REPLICA_DIFFERENCES.name], problems = write_replica_differences(lake, sources)
        made.problems += problems
    if evidence_paths(sources):
        progress(OWNERSHIP_INTERVALS.name)
        replayed = replay_sources(spark, lake, sources)
        made.rows |= replayed.rows
        made.problems += replayed.problems
    return made


def write_lag_history(lake: Lake) -> int:
    """Answer lag_history.sql from the snapshots in the lake into the table of that name; its rows."""
    return lake.write(LAG_HISTORY.name, lake.query(question("lag_history")), replaced=None)


def write_replica_differences(lake: Lake, sources: Sources) -> tuple[int, list[str]]:
    """Compare the replicas of the configuration; rows, and a sentence for each group that could not be compared."""
    rows, problems = replica_rows(sources)
    schema = REPLICA_DIFFERENCES.bare_schema
    return lake.write(REPLICA_DIFFERENCES.name, pa.Table.from_pylist(rows, schema=schema), replaced=None), problems


def readable(brokers: Sequence[BrokerSource]) -> tuple[list[BrokerSource], list[str]]:
    """The brokers whose store can be opened, and a sentence for each of the others."""
    there: list[BrokerSource] = []
    refused: list[str] = []
    for broker in brokers:
        try:
            store_of(broker)
            there.append(broker)
        except NotAStore as why:
            refused.append(f"{broker.name}: {why}")
    return there, refused
