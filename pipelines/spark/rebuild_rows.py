"""What dispatch makes of a log, as rows on their way between tasks, and back as what the writers of a store take."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from recovery.scan import ScanBatch, record_columns, unit_columns
from recovery.scan_kernel import INVALID
from recovery.topic_table import TopicTable

Scalar = TypeVar("Scalar", bound=np.generic)
QUEUES, INDEX, REPORT = 0, 1, 2
"""The purpose of a row: a queue unit, a record for the index, or totals for the report."""

ROWS = pa.schema(
    [
        ("broker", pa.int32()),
        ("purpose", pa.int8()),
        ("slice", pa.int32()),
        ("row_no", pa.int64()),
        ("physical_offset", pa.int64()),
        ("msg_size", pa.int32()),
        ("tags_code", pa.int64()),
        ("store_timestamp_ms", pa.int64()),
        ("topic", pa.binary()),
        ("queue_id", pa.int32()),
        ("queue_offset", pa.int64()),
        ("message_count", pa.int16()),
        ("key_hashes", pa.list_(pa.int32())),
        ("totals", pa.binary()),
    ]
)
LOG_ORDER = ("broker", "purpose", "slice", "row_no")
QUEUE = ("broker", "purpose", "topic", "queue_id")
"""Rows that are alike in these go to one task: those of one queue, or all the records of a broker's index."""

TOTALS = pa.schema(
    [
        ("broker", pa.int32()),
        ("purpose", pa.int8()),
        ("slice", pa.int32()),
        ("totals", pa.binary()),
        ("part", pa.string()),
    ]
)


@dataclass(slots=True)
class RowMaker:
    """Makes the rows of one slice, numbered in log order. Brokers and slices are numbers, from 0."""

    broker: int
    slice_no: int
    row_no: int = 0

    def units(self, batch: ScanBatch, topics: TopicTable) -> pa.RecordBatch:
        records, units = batch.records, batch.units
        return self._rows(
            QUEUES,
            len(units.record),
            physical_offset=records.physical_offset[units.record],
            msg_size=records.total_size[units.record],
            tags_code=records.tags_code[units.record],
            store_timestamp_ms=records.store_timestamp_ms[units.record],
            topic=pa.array(topics.stored, pa.binary()).take(pa.array(units.topic)),
            queue_id=units.queue_id,
            queue_offset=units.queue_offset,
            message_count=units.message_count,
        )

    def records(self, batch: ScanBatch) -> pa.RecordBatch:
        """One row per record that is valid for dispatch, with keys or without: either can make a file necessary."""
        records, valid = batch.records, batch.records.state != INVALID
        hashes = pa.ListArray.from_arrays(pa.array(records.first_key, pa.int32()), pa.array(batch.keys))
        return self._rows(
            INDEX,
            int(valid.sum()),
            physical_offset=records.physical_offset[valid],
            store_timestamp_ms=records.store_timestamp_ms[valid],
            key_hashes=hashes.filter(pa.array(valid)),
        )

    def totals(self, totals: object) -> pa.RecordBatch:
        return self._rows(REPORT, 1, totals=pa.array([pickle.dumps(totals)]))

    def _rows(self, purpose: int, rows: int, **columns: Any) -> pa.RecordBatch:
        columns |= {
            "broker": np.full(rows, self.broker),
            "purpose": np.full(rows, purpose),
            "slice": np.full(rows, self.slice_no),
            "row_no": np.arange(self.row_no, self.row_no + rows),
        }
        self.row_no += rows
        arrays = [
            pa.array(columns[field.name]).cast(field.type) if field.name in columns else pa.nulls(rows, field.type)
            for field in ROWS
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=ROWS)


def queue_batch(rows: pa.RecordBatch, topics: TopicTable) -> ScanBatch:
    """Rows of units as the queue writer takes them, each with a record of its own."""
    records = record_columns(np.zeros(rows.num_rows, np.int64))._replace(
        physical_offset=_numbers(rows, "physical_offset", np.int64),
        total_size=_numbers(rows, "msg_size", np.int32),
        tags_code=_numbers(rows, "tags_code", np.int64),
        store_timestamp_ms=_numbers(rows, "store_timestamp_ms", np.int64),
    )
    units = unit_columns(rows.num_rows)._replace(
        record=np.arange(rows.num_rows),
        topic=_topic_codes(rows.column("topic"), topics),
        queue_id=_numbers(rows, "queue_id", np.int32),
        queue_offset=_numbers(rows, "queue_offset", np.int64),
        message_count=_numbers(rows, "message_count", np.int16),
    )
    return ScanBatch(records, units, np.empty(0, np.int32))


def index_batch(rows: pa.RecordBatch) -> ScanBatch:
    """Rows of records as the index writer takes them."""
    hashes = rows.column("key_hashes")
    records = record_columns(np.zeros(rows.num_rows, np.int64))._replace(
        physical_offset=_numbers(rows, "physical_offset", np.int64),
        store_timestamp_ms=_numbers(rows, "store_timestamp_ms", np.int64),
        state=np.zeros(rows.num_rows, np.int8),
        first_key=np.cumsum(np.append(0, pc.list_value_length(hashes).to_numpy()), dtype=np.int64),
    )
    return ScanBatch(records, unit_columns(0), np.array(hashes.flatten(), np.int32))


def stretches(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[tuple[int, int], pa.RecordBatch]]:
    """The rows, which are in log order, by (broker, purpose): pieces of batches in which both stay the same."""
    for batch in batches:
        broker, purpose = _numbers(batch, "broker", np.int32), _numbers(batch, "purpose", np.int8)
        changes = np.flatnonzero((np.diff(broker) != 0) | (np.diff(purpose) != 0)) + 1
        edges = [0, *changes.tolist(), batch.num_rows]
        for begin, end in pairwise(edges):
            if end > begin:
                yield (int(broker[begin]), int(purpose[begin])), batch.slice(begin, end - begin)


def totals_row(broker: int, purpose: int, slice_no: int, totals: bytes, part: str) -> pa.RecordBatch:
    """One row of TOTALS."""
    row = {"broker": broker, "purpose": purpose, "slice": slice_no, "totals": totals, "part": part}
    return pa.RecordBatch.from_pylist([row], schema=TOTALS)


def _numbers(rows: pa.RecordBatch, name: str, kind: type[Scalar]) -> npt.NDArray[Scalar]:
    """A column without nulls, as an array of its own: compiled code is made for arrays that can be written."""
    return np.array(rows.column(name).to_numpy(zero_copy_only=False), dtype=kind)


def _topic_codes(stored: pa.Array, topics: TopicTable) -> npt.NDArray[np.int32]:
    encoded = stored.dictionary_encode()
    codes = np.array([topics.code(name) for name in encoded.dictionary.to_pylist()], np.int32)
    return codes[np.asarray(encoded.indices.to_numpy(), np.int64)]
