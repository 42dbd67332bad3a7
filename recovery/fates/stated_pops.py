"""Popped messages that a file states as they were when it was saved, without a log of what happened: the last pops of
orderly groups (consumerOrderInfo.json), and the consumer records of a broker that keeps POP in RocksDB (kvStore)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from parsers.config.order_info import read_order_info
from parsers.damage.errors import DamageSink
from parsers.kernels.arrays import Longs
from parsers.layouts.columns import schema_from
from parsers.messages.pop_record import read_pop_records
from parsers.store.store import Store
from recovery.fates.held_kernel import NONE
from recovery.fates.states import PopSource

POP_SOURCES = tuple(PopSource)
STATED = schema_from(
    "group text, topic text, queue_id i32, queue_offset i64, pop_time_ms i64, visible_at_ms i64, is_acked flag, "
    "source i8"
)
"""`source`: place in POP_SOURCES."""


@dataclass(frozen=True, slots=True)
class StatedPops:
    """Rows of STATED, and the columns that place them, as numbers; `topic`: places in `topics`."""

    rows: pa.Table
    topics: list[str]
    topic: Longs
    queue_id: Longs
    queue_offset: Longs


def stated_pops(store: Store, damage: DamageSink) -> StatedPops:
    """What both files state; none of them is there in a store that nobody pops from."""
    ordered = read_order_info(store.config, damage=damage)
    source = POP_SOURCES.index(PopSource.ORDER_INFO)
    columns = [
        [each.group for each in ordered],
        [each.topic for each in ordered],
        [each.queue_id for each in ordered],
        [each.queue_offset for each in ordered],
        [each.pop_time_ms for each in ordered],
        [each.visible_at_ms for each in ordered],
        [each.is_acked for each in ordered],
        [source] * len(ordered),
    ]
    tables = [pa.table(dict(zip(STATED.names, columns, strict=True)), schema=STATED)]
    if store.pop_database is not None:
        records = read_pop_records(store.pop_database, damage=damage)
        tables += [_records(table) for table in records]
    rows = pa.concat_tables(tables).combine_chunks()
    topic = rows["topic"].combine_chunks().dictionary_encode()
    queue_id, queue_offset = _longs(rows["queue_id"]), _longs(rows["queue_offset"])
    return StatedPops(rows, topic.dictionary.to_pylist(), _longs(topic.indices), queue_id, queue_offset)


def _records(found: pa.Table) -> pa.Table:
    popped, invisible = _longs(found["pop_time_ms"]), _longs(found["invisible_ms"])
    names = ("group", "topic", "queue_id", "queue_offset", "pop_time_ms")
    acked: npt.NDArray[np.bool_] = np.zeros(len(found), np.bool_)
    source = np.full(len(found), POP_SOURCES.index(PopSource.KV_STORE), np.int8)
    columns = [*(found[name] for name in names), pa.array(popped + invisible), pa.array(acked), pa.array(source)]
    return pa.Table.from_arrays(columns, names=STATED.names).cast(STATED)


def _longs(column: pa.Array | pa.ChunkedArray) -> Longs:
    numbers: Longs = column.fill_null(NONE).to_numpy(zero_copy_only=False).astype(np.int64)
    return numbers
