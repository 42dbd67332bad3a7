"""History of offsets and configuration: each state that a broker wrote to config/*.json is kept once.

A state is known by the file and the time it was written, so taking a snapshot twice of the same state adds nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from parsers.config.document import BACKUP, holds_table
from parsers.store.store import NotAStore
from parsers.store.store_file import StoreFile
from pipelines.lake.configuration.broker_stores import store_of
from pipelines.lake.configuration.sources import BrokerSource
from pipelines.lake.delta.gathered import gather
from pipelines.lake.lake import Lake
from pipelines.lake.tables.raw import SNAPSHOT_TABLES
from pipelines.spark.transfer import slices_of, write_table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

KNOWN = """
SELECT DISTINCT file, epoch_us(written_at) AS written_us FROM {table}
WHERE broker = $broker AND list_contains($written_us, epoch_us(written_at))
"""


def snapshot_config(spark: SparkSession, lake: Lake, broker: BrokerSource) -> None:
    """Keep what the broker has written since the last snapshot.

    Raises NotAStore: one sentence.
    """
    files = store_of(broker, needs_log=False).config
    for table in SNAPSHOT_TABLES:
        known = known_states(lake, broker, table.name, files)
        present = [file for file in files if not _is_backup(file) and _holds_one_of(file, table.main_files)]
        if not present or any((f"config/{f.path.name}", f.mtime_ns // 1000) not in known for f in present):
            work = slices_of(broker, table.name, options={"known": json.dumps(sorted(known))})
            write_table(spark, lake, table.name, work, replaced=[])
            gather(table, lake.table_root(table.name), broker.name)


def known_states(lake: Lake, broker: BrokerSource, table: str, files: Sequence[StoreFile]) -> set[tuple[str, int]]:
    """(file, time written in epoch microseconds) of the snapshots in the lake that any of these files may be. It goes
    to the workers: with every snapshot of a year it would not fit."""
    asked = sorted({file.mtime_ns // 1000 for file in files})
    rows = lake.query_broker(KNOWN.format(table=table), broker.name, written_us=asked).to_pylist()
    return {(row["file"], row["written_us"]) for row in rows}


def config_state(broker: BrokerSource) -> str | None:
    """A short text that differs whenever the broker has written one of the files; None when there is none to read."""
    try:
        files = store_of(broker, needs_log=False).config
    except NotAStore:
        return None
    names = {name for table in SNAPSHOT_TABLES for name in table.main_files}
    times = sorted((file.path.name, file.mtime_ns, file.size) for file in files if _holds_one_of(file, names))
    return hashlib.sha256(json.dumps(times).encode()).hexdigest()[:16] if times else None


def _holds_one_of(file: StoreFile, names: Collection[str]) -> bool:
    return any(holds_table(file, name) for name in names)


def _is_backup(file: StoreFile) -> bool:
    return file.path.name.endswith(BACKUP)
