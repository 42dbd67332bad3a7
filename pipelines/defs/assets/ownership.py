"""Who owned which queue when: one replay of the logs and captures makes all tables of it."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import dagster as dg

from pipelines.defs.assets.evidence import RECORDINGS
from pipelines.defs.care import cared_for
from pipelines.defs.lakehouse import SPARK_POOL, Lakehouse
from pipelines.defs.metadata import column_schema, table_metadata
from pipelines.defs.plots import plot_of
from pipelines.lake.tables.ownership import LOG_EVENTS, OWNERSHIP_TABLES

if TYPE_CHECKING:
    from pipelines.recordings.line_counts import RecordedLines

PROBLEMS_SHOWN = 20


@dg.multi_asset(
    specs=[
        dg.AssetSpec(
            table.name,
            deps=RECORDINGS,
            description=f"One row: {table.grain}.",
            metadata={"dagster/column_schema": column_schema(table)},
            kinds={"spark", "deltalake"},
            **cared_for("ownership"),
        )
        for table in OWNERSHIP_TABLES
    ],
    name="replayed_ownership",
    pool=SPARK_POOL,
)
def replayed_ownership(lakehouse: Lakehouse) -> Iterator[dg.MaterializeResult[None]]:
    """Read every log and capture of the configuration and replay each group in Spark."""
    from pipelines.spark.jobs.ownership import replay_sources

    lake = lakehouse.lake()
    with lakehouse.writing("ownership"):
        replayed = replay_sources(lakehouse.spark(), lake, lakehouse.sources())
    lines = {"log_lines": replayed.lines.sentence(), "unrecognised_lines": _unrecognised(replayed.lines)}
    unread = dg.MetadataValue.md("\n".join(f"- {problem}" for problem in replayed.problems[:PROBLEMS_SHOWN]) or "none")
    for table in OWNERSHIP_TABLES:
        yield dg.MaterializeResult(
            asset_key=table.name,
            metadata=table_metadata(
                lake,
                table,
                replayed.rows[table.name],
                **plot_of(lake, table.name),
                not_read=unread,
                **(lines if table is LOG_EVENTS else {}),
            ),
        )


def _unrecognised(lines: "RecordedLines") -> dg.MarkdownMetadataValue:
    """How the lines begin that fit no known text, the most frequent first."""
    most = sorted(lines.rows(), key=lambda row: -row.lines)[:PROBLEMS_SHOWN]
    return dg.MetadataValue.md("\n".join(f"- {row.lines:,} of {row.log}: `{row.text}`" for row in most) or "none")
