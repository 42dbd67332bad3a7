"""Partitions of the raw assets: one per store file, known to Dagster once a sensor or an ingest has seen the file."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import dagster as dg

from parsers.store.store import Store
from pipelines.ingest.file_names import partition_key
from pipelines.lake.configuration.sources import BrokerSource
from pipelines.lake.tables.raw import FILE_TABLES
from pipelines.lake.tables.raw_table import FileTable

BROKERS = dg.DynamicPartitionsDefinition(name="broker")


def _by_partition() -> dict[str, list[FileTable]]:
    """The raw tables with partitions of their own, by the name of these."""
    tables: dict[str, list[FileTable]] = defaultdict(list)
    for table in FILE_TABLES:
        if table.files.partition is not None:
            tables[table.files.partition].append(table)
    return dict(tables)


TABLES_BY_PARTITION: Mapping[str, Sequence[FileTable]] = _by_partition()
FILE_PARTITIONS: Mapping[str, dg.DynamicPartitionsDefinition] = {
    table.name: dg.DynamicPartitionsDefinition(name=name)
    for name, tables in TABLES_BY_PARTITION.items()
    for table in tables
}


def keys_of(broker: BrokerSource, store: Store) -> dict[str, list[str]]:
    """Partition keys of a store's files, by the name of their partitions definition."""
    return {
        name: [partition_key(broker, store.root, file) for file in tables[0].files.of(store)]
        for name, tables in TABLES_BY_PARTITION.items()
    }
