"""The data sources over store files: which one makes the rows of which table."""

from __future__ import annotations

from pipelines.spark.checkpoint_source import CheckpointSource
from pipelines.spark.commitlog_source import CommitLogSource, RegionsSource
from pipelines.spark.config_source import ConfigSource
from pipelines.spark.consumequeue_source import ConsumeQueueSource
from pipelines.spark.files_source import FilesSource
from pipelines.spark.index_source import IndexFilesSource, IndexSource
from pipelines.spark.queues_source import QueuesSource
from pipelines.spark.source import StoreSource
from pipelines.spark.timer_source import TimerSource

SOURCES: tuple[type[StoreSource], ...] = (
    FilesSource,
    CommitLogSource,
    RegionsSource,
    ConsumeQueueSource,
    QueuesSource,
    IndexSource,
    IndexFilesSource,
    TimerSource,
    CheckpointSource,
    ConfigSource,
)


def source_of(table: str) -> type[StoreSource]:
    """The data source of a raw table. Raises ValueError for a table that no store file holds."""
    for source in SOURCES:
        if source.table_name == table or table in source.further_tables:
            return source
    raise ValueError(f"{table} is not read from store files")
