"""Files that a broker has deleted since they were ingested: their rows stay in the lake, and say so."""

from __future__ import annotations

from datetime import UTC, datetime

import pyarrow as pa

from parsers.store.places import name_below
from parsers.store.store import Store
from pipelines.lake.configuration.sources import BrokerSource
from pipelines.lake.lake import Lake
from pipelines.lake.tables.raw import STORE_FILES

KNOWN = "SELECT * FROM store_files WHERE broker = $broker"


def mark_gone(lake: Lake, broker: BrokerSource, store: Store) -> int:
    """Set `gone_at` of the files that the store no longer holds, take it back for those it holds again; rows changed.

    Retention deletes whole files while the lake keeps their messages, which is what a lake is asked for later.
    """
    present = {name_below(store.root, file.path) for file in store.files()}
    now = datetime.now(UTC)
    rows, changed = lake.query_broker(KNOWN, broker.name).to_pylist(), 0
    for row in rows:
        if (row["file"] in present) == (row["gone_at"] is not None):
            row["gone_at"] = None if row["file"] in present else now
            changed += 1
    if changed:
        table = pa.Table.from_pylist(rows, schema=STORE_FILES.bare_schema)
        lake.write(STORE_FILES.name, table, replaced=[(broker.name,)])
    return changed
