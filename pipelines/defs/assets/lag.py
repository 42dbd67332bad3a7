"""How far behind each group is."""

from __future__ import annotations

import dagster as dg

from pipelines.defs.assets.evidence import evidence
from pipelines.defs.care import cared_for
from pipelines.defs.lakehouse import SPARK_POOL, Lakehouse
from pipelines.defs.metadata import column_lineage, column_schema, table_metadata
from pipelines.defs.plots import plot_of
from pipelines.lake.questions import question
from pipelines.lake.tables.lag import LAG, LAG_EPISODES, LAG_HISTORY
from pipelines.lake.tables.raw import CONSUMEQUEUE_UNITS, QUEUES
from pipelines.lake.tables.saved_config import OFFSET_SNAPSHOTS

LAG_DEPS = ["offset_snapshots", "topic_configs", "queues", "consumequeue_units", "commitlog_messages"]


@dg.asset(
    name=LAG.name,
    deps=[*LAG_DEPS, *evidence("broker_logs")],
    description=f"One row: {LAG.grain}. Messages as consumerProgress counts them, seconds as the age of the oldest "
    "unread message; what is not known is null and says why.",
    metadata={"dagster/column_schema": column_schema(LAG)},
    automation_condition=dg.AutomationCondition.eager(),
    kinds={"spark", "deltalake"},
    pool=SPARK_POOL,
    **cared_for("lag"),
)
def lag(lakehouse: Lakehouse) -> dg.MaterializeResult[None]:
    from pipelines.ingest.derive import readable
    from pipelines.spark.jobs.store_rows import judge_brokers

    lake = lakehouse.lake()
    with lakehouse.writing(LAG.name), lakehouse.stores() as sources:
        brokers, refused = readable(sources.brokers)
        rows = judge_brokers(lakehouse.spark(), lake, LAG.name, brokers)
    groups = lake.query(question("lag_by_group")).to_pylist()
    return dg.MaterializeResult(
        metadata=table_metadata(
            lake,
            LAG,
            rows,
            **{"dagster/column_lineage": column_lineage(LAG, [OFFSET_SNAPSHOTS, QUEUES, CONSUMEQUEUE_UNITS])},
            **plot_of(lake, LAG.name),
            queues_unknown=sum(row["queues_unknown"] for row in groups),
            not_read="; ".join(refused) or "none",
        )
    )


@dg.asset(
    name=LAG_HISTORY.name,
    deps=[*LAG_DEPS, "topic_lives"],
    description=f"One row: {LAG_HISTORY.grain}. The queue ends at the last message stored by then; a queue without "
    "a stored offset has no row. Answered by lag_history.sql from the snapshots and the "
    "lives of topics in the lake.",
    metadata={"dagster/column_schema": column_schema(LAG_HISTORY)},
    automation_condition=dg.AutomationCondition.eager(),
    kinds={"duckdb", "deltalake"},
    **cared_for("lag"),
)
def lag_history(lakehouse: Lakehouse) -> dg.MaterializeResult[None]:
    from pipelines.ingest.derive import write_lag_history

    lake = lakehouse.lake()
    with lakehouse.writing(LAG_HISTORY.name):
        rows = write_lag_history(lake)
    return dg.MaterializeResult(
        metadata=table_metadata(
            lake,
            LAG_HISTORY,
            rows,
            **{"dagster/column_lineage": column_lineage(LAG_HISTORY, [OFFSET_SNAPSHOTS, QUEUES, CONSUMEQUEUE_UNITS])},
            **plot_of(lake, LAG_HISTORY.name),
        )
    )


@dg.asset(
    name=LAG_EPISODES.name,
    deps=[LAG_HISTORY.name, "ownership_intervals", "ownership_anomalies", *evidence("broker_logs")],
    description=f"One row: {LAG_EPISODES.grain}. The shares of a row add up to 1; what nothing tells is unexplained.",
    metadata={"dagster/column_schema": column_schema(LAG_EPISODES)},
    automation_condition=dg.AutomationCondition.eager(),
    kinds={"duckdb", "deltalake"},
    **cared_for("lag"),
)
def lag_episodes(lakehouse: Lakehouse) -> dg.MaterializeResult[None]:
    from pipelines.ingest.derive import write_lag_episodes

    lake = lakehouse.lake()
    with lakehouse.writing(LAG_EPISODES.name):
        rows = write_lag_episodes(lake, lakehouse.sources())
    return dg.MaterializeResult(metadata=table_metadata(lake, LAG_EPISODES, rows, **plot_of(lake, LAG_EPISODES.name)))
