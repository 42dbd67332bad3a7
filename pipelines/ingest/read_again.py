"""Whether a store's file gives every row again that a lake has of it: only then may they leave the lake."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from parsers.damage.errors import StoreFormatError
from pipelines.lake.configuration.sources import BrokerSource
from pipelines.lake.delta.log import partition_parts
from pipelines.lake.lake import Lake, quoted
from pipelines.lake.tables.raw import TABLES
from pipelines.objects.both import connected, readable

if TYPE_CHECKING:
    from pipelines.spark.transfer import SliceWork

OPTIONAL = frozenset({"body", "body_decompressed"})
"""Columns that an ingest fills only where it is asked to."""


def gives_all_again(lake: Lake, broker: BrokerSource, table: str, file: str, faulty: Collection[str]) -> bool:
    """Read a store's file, and look for each row of it that the lake's table holds.

    A file that is damaged in its middle, or that was cut and written anew, keeps its size and its ends: only its rows
    tell. Rows that the file has besides, because it grew, do no harm.

    Args:
        file: its path below the store's root.
        faulty: paths of parts that cannot be read; only the rows of the others are looked for.
    """
    root = lake.table_root(table)
    parts = [part for part in partition_parts(TABLES[table], root) if part.partition == (broker.name, file)]
    whole = [root / part.path for part in parts if part.path not in faulty]
    if not whole:
        return True
    wanted = [name for name in TABLES[table].bare_schema.names if name not in OPTIONAL]
    stored = set.intersection(*(set(pq.read_schema(readable(path)).names) for path in whole))
    columns = ", ".join(f'"{name}"' for name in wanted if name in stored)
    work, schema = _work(broker, table, file), TABLES[table].bare_schema
    rows = (batch.cast(schema) for one in work for batch in one())
    held = f"read_parquet([{', '.join(map(quoted, map(str, whole)))}], union_by_name=true)"
    with suppress(StoreFormatError, OSError, pa.ArrowException, duckdb.Error), connected(lake.root) as connection:
        connection.register("now", pa.RecordBatchReader.from_batches(schema, rows))
        missing = connection.sql(f"SELECT {columns} FROM {held} EXCEPT SELECT {columns} FROM now LIMIT 1").fetchall()
        return not missing and not any(one.reader.unread for one in work)
    return False


def _work(broker: BrokerSource, table: str, file: str) -> list[SliceWork]:
    from pipelines.spark.transfer import slices_of

    return slices_of(broker, table, [file], {"bodies": "false"})
