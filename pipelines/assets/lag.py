"""How far behind each group is."""

from __future__ import annotations

import dagster as dg
import pyarrow as pa

from pipelines.assets.raw import SPARK_POOL
from pipelines.metadata import bar_plot, column_lineage, column_schema, table_metadata
from pipelines.resources.lakehouse import Lakehouse
from pipelines.spark.lag_job import lag_of_brokers
from pipelines.tables import CONSUMEQUEUE_UNITS, LAG, OFFSET_SNAPSHOTS, QUEUES

PER_GROUP = """
SELECT "group", sum(messages_behind) AS behind, count(*) FILTER (status = 'unknown') AS unknown
FROM lag GROUP BY ALL
"""


@dg.asset(
    name=LAG.name,
    group_name="lag",
    deps=["offset_snapshots", "topic_configs", "queues", "consumequeue_units", "commitlog_messages"],
    description=f"One row: {LAG.grain}. Messages as consumerProgress counts them, seconds as the age of the oldest "
    "unread message; what is not known is null and says why.",
    metadata={"dagster/column_schema": column_schema(LAG)},
    automation_condition=dg.AutomationCondition.eager(),
    kinds={"spark", "deltalake"},
    pool=SPARK_POOL,
)
def lag(lakehouse: Lakehouse) -> dg.MaterializeResult[None]:
    lake = lakehouse.lake()
    found = [rows for _, rows in lag_of_brokers(lakehouse.spark(), lake)]
    table = pa.concat_tables(found) if found else LAG.bare_schema.empty_table()
    rows = lake.write(LAG.name, table, replaced=None)
    groups = lake.query(PER_GROUP).to_pylist()
    behind = [row["behind"] or 0 for row in groups]
    return dg.MaterializeResult(
        metadata=table_metadata(
            lake,
            LAG,
            rows,
            **{"dagster/column_lineage": column_lineage(LAG, [OFFSET_SNAPSHOTS, QUEUES, CONSUMEQUEUE_UNITS])},
            messages_behind=bar_plot("messages behind by group", [row["group"] for row in groups], behind, "messages"),
            queues_unknown=sum(row["unknown"] for row in groups),
        )
    )
