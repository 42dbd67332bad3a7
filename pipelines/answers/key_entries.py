"""The entries of a store's index that many keys lead to, without reading one message."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from parsers.damage.errors import DamageSink
from parsers.index.find import IndexQuery
from parsers.layouts.columns import schema_from
from parsers.store.store import Store

SCHEMA = schema_from("key text, physical_offset i64, file text, entry_no i32")


def key_entries(store: Store, topic: str, keys: Sequence[str], most: int, damage: DamageSink) -> pa.Table:
    """A row for each entry: in the order of the keys, and for each of them newest first."""
    query = IndexQuery(store.index, damage=damage)
    asked = pa.array(keys, pa.string())
    files = pa.array([file.path.name for file in query.newest_first], pa.string())
    batches = [
        pa.record_batch(
            [
                asked.take(pa.array(found.key)),
                found.physical_offset,
                files.take(pa.array(found.file)),
                found.entry_no.astype(np.int32),
            ],
            schema=SCHEMA,
        )
        for found in query.find_all(topic, keys, max_num=most)
    ]
    return pa.Table.from_batches(batches, SCHEMA)
