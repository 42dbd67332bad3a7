"""What is plotted of each table, declared once: a run of its asset and an ingest show the same bars."""

from __future__ import annotations

from dataclasses import dataclass

import dagster as dg

from pipelines.defs.metadata import bar_plots
from pipelines.defs.partitions import FILE_PARTITIONS
from pipelines.lake.lake import Lake
from pipelines.lake.questions import question

PER_INSTANT = """
SELECT strftime("at", '%Y-%m-%d %H:%M:%S') AS label, sum(greatest(messages_behind, 0)) AS length
FROM lag_history GROUP BY ALL ORDER BY label DESC LIMIT 12
"""
STARTS = "CASE WHEN starts THEN 'starts' WHEN starts IS NULL THEN 'not known' ELSE 'does not start' END"
TRACED = "concat_ws(' ', trace_type, CASE WHEN success THEN 'succeeded' WHEN NOT success THEN 'failed' END)"


@dataclass(frozen=True, slots=True)
class Plot:
    """Bars of one table: `sql` gives the columns `label` and `length`."""

    title: str
    unit: str
    sql: str

    def drawn(self, lake: Lake) -> dict[str, dg.MarkdownMetadataValue]:
        """The entry of an asset's metadata; none where there is nothing to compare."""
        rows = lake.query(self.sql).to_pylist()
        return bar_plots(self.title, [str(row["label"]) for row in rows], [row["length"] for row in rows], self.unit)


def _rows_by(table: str, label: str) -> Plot:
    title = f"rows of {table}"
    return Plot(title, "rows", f"SELECT {label} AS label, count(*) AS length FROM {table} GROUP BY ALL")


PLOTS = {
    "store_files": Plot(
        "bytes by kind of file",
        "bytes",
        "SELECT kind AS label, sum(size) AS length FROM store_files WHERE gone_at IS NULL GROUP BY ALL",
    ),
    "lag": Plot(
        "messages behind by group",
        "messages",
        f"""SELECT broker || '/' || "group" AS label, messages_behind AS length FROM ({question("lag_by_group")})""",
    ),
    "lag_history": Plot("messages behind by instant, of known queues", "messages", PER_INSTANT),
    "lag_episodes": Plot(
        "message-seconds by cause",
        "message-seconds",
        "SELECT cause AS label, sum(message_seconds) AS length FROM lag_episodes GROUP BY ALL",
    ),
    **{
        table: _rows_by(table, label)
        for table, label in {
            "queues": "topic",
            "topic_configs": "written_at",
            "group_configs": "written_at",
            "queue_mappings": "topic",
            "offset_snapshots": "written_at",
            "consistency_findings": "concat_ws(' ', severity, kind)",
            "recovery_forecast": STARTS,
            "retention_risk": "status",
            "loss_ledger": "state",
            "backlog": '"group"',
            "group_starts": "policy",
            "offset_events": "kind",
            "topic_lives": "state",
            "life_events": "concat_ws(' ', subject, happened)",
            "group_lives": "state",
            "delayed_messages": "concat_ws(' ', kind, state)",
            "retry_chains": "state",
            "transactions": "state",
            "popped_messages": "state",
            "trace_events": TRACED,
            "tiered_queues": "topic",
            "log_events": "kind",
            "heartbeats": "kind",
            "assignments": "client_id",
            "assignment_divergence": "cause",
            "ownership_intervals": "client_id",
            "ownership_anomalies": "kind",
            "ownership_notes": "kind",
        }.items()
    },
}
"""Name of a table -> its bars. Of a raw table the rows of each store file are plotted instead."""
NOT_PLOTTED = {"checkpoints", "epochs", "replica_differences"}
"""A row or few for each broker, or none as long as replicas agree."""


def plot_of(lake: Lake, table: str) -> dict[str, dg.MarkdownMetadataValue]:
    """The entry `plot` of a table's metadata; none where there is nothing to compare."""
    if table in PLOTS:
        return PLOTS[table].drawn(lake)
    if table not in FILE_PARTITIONS:
        return {}
    rows = {"/".join(key): held for key, held in lake.file_rows(table).items()}
    return bar_plots(f"{table}: rows per store file", list(rows), list(rows.values()), "rows")
