"""What the files of each store prove together: disagreements, the next start, data at risk."""

from collections.abc import Sequence

import dagster as dg

from pipelines.defs.assets.evidence import evidence
from pipelines.defs.care import cared_for
from pipelines.defs.lakehouse import SPARK_POOL, Lakehouse
from pipelines.defs.metadata import column_schema, table_metadata
from pipelines.defs.plots import plot_of
from pipelines.lake.tables.fates import DELAYED_MESSAGES, POPPED_MESSAGES, RETRY_CHAINS, TRACE_EVENTS, TRANSACTIONS
from pipelines.lake.tables.judgements import (
    CONSISTENCY_FINDINGS,
    LOSS_LEDGER,
    RECOVERY_FORECAST,
    REPLICA_DIFFERENCES,
    RETENTION_RISK,
    TIERED_QUEUES,
)
from pipelines.lake.tables.lag import BACKLOG, GROUP_STARTS, OFFSET_EVENTS
from pipelines.lake.tables.lives import GROUP_LIVES, LIFE_EVENTS, TOPIC_LIVES
from pipelines.lake.tables.table import Table

STORE_DEPS = ["commitlog_regions", "consumequeue_units", "index_entries", "checkpoints", "store_files"]
CONFIG_DEPS = ["topic_configs", "offset_snapshots"]
LOGGED_DEPS: list[str | dg.AssetKey] = [*STORE_DEPS, *CONFIG_DEPS, *evidence("broker_logs")]
LIFE_DEPS: list[str | dg.AssetKey] = [*LOGGED_DEPS, "group_configs"]


def judged_asset(table: Table, group: str, deps: Sequence[str | dg.AssetKey], description: str) -> dg.AssetsDefinition:
    """The asset of a table that `recovery` makes from a store's files."""

    @dg.asset(
        name=table.name,
        deps=deps,
        description=f"One row: {table.grain}. {description}",
        metadata={"dagster/column_schema": column_schema(table)},
        automation_condition=dg.AutomationCondition.eager(),
        kinds={"spark", "deltalake"},
        pool=SPARK_POOL,
        **cared_for(group),
    )
    def built(lakehouse: Lakehouse) -> dg.MaterializeResult[None]:
        from pipelines.ingest.derive import readable
        from pipelines.ingest.watermarks import watermarks_of
        from pipelines.spark.jobs.store_rows import judge_brokers

        lake = lakehouse.lake()
        with lakehouse.writing(table.name), lakehouse.stores() as sources:
            brokers, refused = readable(sources.brokers)
            marks = watermarks_of(lake)
            cut = [broker.cut_at(marks.get(broker.name)) for broker in brokers]
            rows = judge_brokers(lakehouse.spark(), lake, table.name, cut)
        return dg.MaterializeResult(
            metadata=table_metadata(
                lake, table, rows, **plot_of(lake, table.name), not_read="; ".join(refused) or "none"
            )
        )

    return built


JUDGED_ASSETS = [
    judged_asset(CONSISTENCY_FINDINGS, "consistency", LOGGED_DEPS, "No row for a store whose files agree."),
    judged_asset(
        RECOVERY_FORECAST,
        "recovery",
        [*STORE_DEPS, *evidence("broker_logs")],
        "The document holds every queue, every loss, and the rule behind each conclusion.",
    ),
    judged_asset(RETENTION_RISK, "recovery", STORE_DEPS + CONFIG_DEPS, "As of the run: a due date passes."),
    judged_asset(
        LOSS_LEDGER,
        "consistency",
        LOGGED_DEPS,
        "Every queue offset in exactly one state, so that the states of a queue add up to its maximum.",
    ),
    judged_asset(
        BACKLOG,
        "lag",
        LOGGED_DEPS,
        "By the SQL92 filters that the broker keeps, and by the subscriptions in its logs; what matches a subscription "
        "that neither tells is null.",
    ),
    judged_asset(
        GROUP_STARTS,
        "lag",
        STORE_DEPS,
        "By the version's rule for a group without an offset; a window where memory or page cache decide.",
    ),
    judged_asset(
        OFFSET_EVENTS,
        "lag",
        LOGGED_DEPS,
        "From the broker's store and its logs; what is not known is null and says why.",
    ),
    judged_asset(
        TOPIC_LIVES,
        "consistency",
        LOGGED_DEPS,
        "Messages of a life that a deletion ended are in the log and in no queue.",
    ),
    judged_asset(
        LIFE_EVENTS,
        "consistency",
        LIFE_DEPS,
        "From the broker's log, saved files of config/, and the messages; what no source tells is null and says why.",
    ),
    judged_asset(GROUP_LIVES, "lag", LIFE_DEPS, "Whether consumers are connected, only the broker's log shows."),
    judged_asset(
        DELAYED_MESSAGES,
        "recovery",
        STORE_DEPS + CONFIG_DEPS,
        "The log's own records; when the file of a pending one is deleted is as of the ingest.",
    ),
    judged_asset(
        RETRY_CHAINS, "lag", STORE_DEPS + CONFIG_DEPS, "By the log's records and the stored offsets of the groups."
    ),
    judged_asset(
        TRANSACTIONS,
        "recovery",
        STORE_DEPS + CONFIG_DEPS,
        "By the log's records, and how far the broker's own group has checked.",
    ),
    judged_asset(
        POPPED_MESSAGES,
        "lag",
        STORE_DEPS + CONFIG_DEPS,
        "By the revive log; what was acknowledged in the broker's memory alone has no row.",
    ),
    judged_asset(
        TRACE_EVENTS,
        "recovery",
        STORE_DEPS,
        "From the bodies of trace messages. Clients drop traces when they are busy: what has no row may have happened.",
    ),
    judged_asset(
        TIERED_QUEUES,
        "consistency",
        STORE_DEPS + CONFIG_DEPS,
        "By config/tieredStoreMetadata.json, and the segments in tieredStoreFilePath of the broker's settings.",
    ),
]


@dg.asset(
    deps=STORE_DEPS + CONFIG_DEPS,
    description=f"One row: {REPLICA_DIFFERENCES.grain}. No row where rocketlens.toml names no [[replicas]].",
    metadata={"dagster/column_schema": column_schema(REPLICA_DIFFERENCES)},
    automation_condition=dg.AutomationCondition.eager(),
    kinds={"deltalake"},
    pool=SPARK_POOL,
    **cared_for("consistency"),
)
def replica_differences(lakehouse: Lakehouse) -> dg.MaterializeResult[None]:
    """The replicas of rocketlens.toml compared."""
    from pipelines.ingest.derive import write_replica_differences

    lake = lakehouse.lake()
    with lakehouse.writing(REPLICA_DIFFERENCES.name), lakehouse.stores() as sources:
        rows, problems = write_replica_differences(lake, sources)
    return dg.MaterializeResult(
        metadata=table_metadata(lake, REPLICA_DIFFERENCES, rows, not_read="; ".join(problems) or "none")
    )
