"""Partitions of the raw assets: one per store file, known to Dagster once a sensor or an ingest has seen the file."""

from __future__ import annotations

from collections.abc import Mapping

import dagster as dg

from parsers.store import Store
from pipelines.ingest.ingest import files_of_table, partition_key
from pipelines.lake.sources import BrokerSource

COMMITLOG_FILES = dg.DynamicPartitionsDefinition(name="commitlog_file")
CONSUMEQUEUE_FILES = dg.DynamicPartitionsDefinition(name="consumequeue_file")
INDEX_FILES = dg.DynamicPartitionsDefinition(name="index_file")
TIMER_FILES = dg.DynamicPartitionsDefinition(name="timer_file")
BROKERS = dg.DynamicPartitionsDefinition(name="broker")

FILE_PARTITIONS: Mapping[str, dg.DynamicPartitionsDefinition] = {
    "commitlog_messages": COMMITLOG_FILES,
    "commitlog_regions": COMMITLOG_FILES,
    "consumequeue_units": CONSUMEQUEUE_FILES,
    "index_files": INDEX_FILES,
    "index_entries": INDEX_FILES,
    "timer_records": TIMER_FILES,
}
TABLES_BY_PARTITION: Mapping[str, tuple[str, ...]] = {
    "commitlog_file": ("commitlog_messages", "commitlog_regions"),
    "consumequeue_file": ("consumequeue_units",),
    "index_file": ("index_files", "index_entries"),
    "timer_file": ("timer_records",),
}


def keys_of(broker: BrokerSource, store: Store) -> dict[str, list[str]]:
    """Partition keys of a store's files, by the name of their partitions definition."""
    return {
        name: [partition_key(broker, store.root, file) for file in files_of_table(store, tables[0])]
        for name, tables in TABLES_BY_PARTITION.items()
    }
