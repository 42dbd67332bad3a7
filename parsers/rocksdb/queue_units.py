"""The units of one queue in a database: as Arrow columns, summed up, and the queue's ends as its broker says them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from parsers.consumequeue.layout import MAX_EXT_ADDRESS, TAGS_CODE_KINDS
from parsers.consumequeue.summary import QueueSummary
from parsers.layouts.constants import constant, named_constant, names_of
from parsers.rocksdb.queue_table import QueueLimits, QueueTable, Units
from parsers.rocksdb.schema import DATABASE_UNIT_KINDS, DATABASE_UNIT_SCHEMA
from parsers.store.store_file import QueueKey
from parsers.values.java import INT_MAX, to_long
from parsers.values.topics import SCHEDULE_TOPIC


def units_to_batches(table: QueueTable, key: QueueKey) -> Iterator[pa.RecordBatch]:
    """Every unit of a queue, in order, as batches of DATABASE_UNIT_SCHEMA; see `DATABASE_UNIT_KINDS`.

    Source: store/queue/RocksDBConsumeQueueTable.java @5.3.3.
    """
    queue = table.limits[key]
    for units in table.units(queue):
        yield _batch(key, units, _kinds(queue, units))


def summarize(table: QueueTable, key: QueueKey, commitlog_min: int) -> QueueSummary:
    """The summary of one queue; `units` counts those within its limits. It has no files."""
    queue = table.limits[key]
    first, end = queue_ends(table, key, commitlog_min)
    last = table.unit_or_none(queue, queue.last_queue_offset)
    return QueueSummary(
        topic=key[0],
        queue_id=key[1],
        min_queue_offset=first,
        max_queue_offset=end,
        max_physical_offset=None if last is None else to_long(last["physical_offset"] + last["msg_size"]),
        units=sum(int(np.count_nonzero(_kinds(queue, units) == 0)) for units in table.units(queue)),
        pre_blanks=0,
        files=0,
    )


def queue_ends(table: QueueTable, key: QueueKey, commitlog_min: int) -> tuple[int, int]:
    """The first message that still exists, and the next one to come.

    The first one is as noted while its record exists; else the first unit whose record does, which the broker searches
    for when it is asked. Source: RocksDBConsumeQueueOffsetTable#getMinCqOffset, #correctMinCqOffset,
    RocksDBConsumeQueueTable#binarySearchInCQ, RocksDBConsumeQueueStore#getMaxOffsetInQueue @5.3.3, 5.4.0.
    """
    queue = table.limits[key]
    noted, end = queue.first.queue_offset if queue.first else 0, to_long(queue.last_queue_offset + 1)
    if queue.first is not None and queue.first.physical_offset >= commitlog_min:
        return noted, end
    if queue.last is None:
        return 0, end
    if queue.last.physical_offset < commitlog_min:
        return end, end
    found = _first_behind(table, queue, noted, commitlog_min)
    return (noted if found is None else found), end


def _first_behind(table: QueueTable, queue: QueueLimits, low: int, physical_offset: int) -> int | None:
    """The first unit whose record starts at or after a byte of the CommitLog; missing ones count as before it."""
    found, high = None, queue.last_queue_offset
    while high >= low:
        middle = (low + high) // 2
        unit = table.unit_or_none(queue, middle)
        if unit is None or unit["physical_offset"] < physical_offset:
            low = middle + 1
        else:
            found, high = middle, middle - 1
    return found


def _kinds(queue: QueueLimits, units: Units) -> npt.NDArray[np.int8]:
    """The kind of each unit, as its number in DATABASE_UNIT_KINDS."""
    first = queue.first.queue_offset if queue.first is not None else 0
    kinds = (units["queue_offset"] > queue.last_queue_offset).astype(np.int8)
    kinds[(units["queue_offset"] < first) & (kinds == 0)] = 2
    return kinds


def _batch(key: QueueKey, units: Units, kinds: npt.NDArray[np.int8]) -> pa.RecordBatch:
    topic, queue_id = key
    tags = units["tags_code"].astype(np.int64)
    tags_kind = np.where(tags > INT_MAX, np.int8(topic == SCHEDULE_TOPIC), np.int8(0))
    tags_kind[tags <= MAX_EXT_ADDRESS] = 2
    columns = {
        "topic": named_constant(topic, len(units)),
        "queue_id": constant(queue_id, len(units)),
        "msg_size": pa.array(units["msg_size"].astype(np.int32)),
        "kind": pa.DictionaryArray.from_arrays(pa.array(kinds), names_of(*DATABASE_UNIT_KINDS), safe=False),
        "tags_code_kind": pa.DictionaryArray.from_arrays(pa.array(tags_kind), names_of(*TAGS_CODE_KINDS), safe=False),
    }
    for name in ("queue_offset", "physical_offset", "tags_code", "store_timestamp_ms"):
        columns[name] = pa.array(units[name].astype(np.int64))
    ordered = [columns[name] for name in DATABASE_UNIT_SCHEMA.names]
    return pa.RecordBatch.from_arrays(ordered, schema=DATABASE_UNIT_SCHEMA)
