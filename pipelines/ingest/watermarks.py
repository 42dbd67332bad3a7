"""How far each broker's store was ingested: one watermark for each, taken before any row of an ingest is read."""

from __future__ import annotations

from datetime import UTC, datetime

import pyarrow as pa

from parsers.store.store import Store
from pipelines.lake.configuration.sources import BrokerSource
from pipelines.lake.lake import Lake
from pipelines.lake.tables.ingest_notes import WATERMARKS


def take_watermark(lake: Lake, broker: BrokerSource, store: Store) -> BrokerSource:
    """Look how far a store has come and keep it; the broker, to be read as far as that."""
    from recovery.query.watermark import watermark  # it reads logs, which an ingest without news does not

    found = watermark(store)
    row = {
        "broker": broker.name,
        "taken_at": datetime.now(UTC),
        "physical_offset": found.physical_offset,
        "log_end": found.log_end,
        "dispatched_to": found.dispatched_to,
    }
    lake.write(WATERMARKS.name, pa.Table.from_pylist([row], schema=WATERMARKS.bare_schema), replaced=[(broker.name,)])
    return broker.cut_at(found.physical_offset)


def watermarks_of(lake: Lake) -> dict[str, int]:
    """The watermarks that the lake keeps, by broker: physical offsets."""
    kept = lake.query("SELECT broker, physical_offset FROM watermarks").to_pylist()
    return {row["broker"]: row["physical_offset"] for row in kept}
