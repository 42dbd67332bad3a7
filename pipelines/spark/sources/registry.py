"""The data sources over store files: which one makes the rows of which table."""

from __future__ import annotations

from pipelines.spark.sources.by_file import (
    CheckpointSource,
    CompactionSource,
    ConsumeQueueSource,
    EpochSource,
    ExtSource,
    TimerSource,
)
from pipelines.spark.sources.commitlog import CommitLogSource, RegionsSource
from pipelines.spark.sources.config import ConfigSource
from pipelines.spark.sources.files import FilesSource
from pipelines.spark.sources.index import IndexFilesSource, IndexSource
from pipelines.spark.sources.queues import QueuesSource
from pipelines.spark.sources.source import StoreSource

SOURCES: tuple[type[StoreSource], ...] = (
    FilesSource,
    CommitLogSource,
    RegionsSource,
    ConsumeQueueSource,
    ExtSource,
    CompactionSource,
    QueuesSource,
    IndexSource,
    IndexFilesSource,
    TimerSource,
    CheckpointSource,
    EpochSource,
    ConfigSource,
)


def source_of(table: str) -> type[StoreSource]:
    """The data source of a raw table. Raises ValueError for a table that no store file holds."""
    for source in SOURCES:
        if source.table_name == table or table in source.further_tables:
            return source
    raise ValueError(f"{table} is not read from store files")
