"""`rocketmq_config`: what config/*.json says now, as the broker would take it (.bak where the main file is no use)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import InputPartition
from pyspark.sql.types import StructType

from parsers.damage.errors import unheard
from parsers.store.places import name_below
from parsers.store.store import Store
from parsers.store.store_file import StoreFile
from pipelines.lake.tables.rows import conform
from pipelines.lake.tables.spark_schema import spark_schema
from pipelines.spark.sources.slices import Piece, Slice
from pipelines.spark.sources.source import StoreReader, StoreSource, table_of

if TYPE_CHECKING:
    import pyarrow as pa

Rows = list[tuple[StoreFile, Any]]
ToBatch = Callable[[Rows], "pa.RecordBatch"]
DEFAULT_TABLE = "offset_snapshots"


class ConfigReader(StoreReader):
    """A handful of small files: one task, so that main file and .bak are seen together.

    Further option: `known`, JSON list of states (file, time written in epoch microseconds) whose rows are not wanted.
    """

    def files_of(self, store: Store) -> list[StoreFile]:
        return store.config

    def partitions(self) -> Sequence[InputPartition]:
        files = self.files_of(self.store())
        return [Slice([Piece(file, 0, file.size) for file in files])] if files else []

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        if not isinstance(partition, Slice):
            return
        rows, to_batch = read_config(self.table_name, [piece.file for piece in partition.pieces])
        schema = table_of(self.table_name).select(self.names)
        known = {tuple(state) for state in json.loads(self.options.get("known", "[]"))}
        for file, of_file in groupby(rows, key=lambda row: row[0]):
            name, written_us = name_below(Path(self.options["store"]), file.path), file.mtime_ns // 1000
            if (name, written_us) not in known:
                origin = {"broker": self.options.get("broker"), "file": name, "written_at": written_us}
                yield from conform([to_batch(list(of_file))], schema, origin)


def read_config(table: str, files: Sequence[StoreFile]) -> tuple[Rows, ToBatch]:
    """The rows of one of the configuration tables, each with its file, and what makes columns of them."""
    from parsers.config.groups import groups_to_batch, read_groups
    from parsers.config.offsets import offsets_to_batch, read_offsets
    from parsers.config.queue_mappings import queue_mappings_to_batch, read_queue_mappings
    from parsers.config.topics import read_topics, topics_to_batch

    if table == "topic_configs":
        return read_topics(files, damage=unheard), topics_to_batch
    if table == "group_configs":
        return read_groups(files, damage=unheard), groups_to_batch
    if table == "queue_mappings":
        return read_queue_mappings(files, damage=unheard), queue_mappings_to_batch
    return read_offsets(files, damage=unheard), offsets_to_batch


class ConfigSource(StoreSource):
    """Further option: `table`, one of offset_snapshots (the default), topic_configs, group_configs, queue_mappings."""

    format_name = "rocketmq_config"
    table_name = DEFAULT_TABLE
    further_tables = ("topic_configs", "group_configs", "queue_mappings")
    reader_class = ConfigReader

    def schema(self) -> StructType:
        return spark_schema(table_of(self._table()).bare_schema)

    def reader(self, schema: StructType) -> ConfigReader:
        return ConfigReader(dict(self.options), schema.fieldNames(), self._table())

    def _table(self) -> str:
        table = str(self.options.get("table", DEFAULT_TABLE))
        if table not in (DEFAULT_TABLE, *self.further_tables):
            raise ValueError(f"option table: {table!r} is none of {', '.join((DEFAULT_TABLE, *self.further_tables))}")
        return table
