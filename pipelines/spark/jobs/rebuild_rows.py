"""What dispatch makes of a log, as rows on their way between tasks, and back as what the writers of a store take."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar
from zlib import crc32

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from parsers.layouts.columns import schema_from
from recovery.scan.kernel import INVALID, ScanBatch
from recovery.scan.scanner import record_columns, unit_columns
from recovery.scan.topic_table import TopicTable

Scalar = TypeVar("Scalar", bound=np.generic)
QUEUES, INDEX, REPORT = 0, 1, 2
"""What a row is for: units of some queues, records for the index, or totals for the report."""

ROWS = schema_from("broker i32, purpose i8, shard i32, slice i32, run i64, packed bytes")
"""A row is what one run of records gives for one shard of the queues, or for the index: Spark moves few, large rows."""
ONE_WRITER = ("broker", "purpose", "shard")
"""Rows that are alike in these go to one writer."""
LOG_ORDER = (*ONE_WRITER, "slice", "run")

TOTALS = schema_from("broker i32, purpose i8, slice i32, totals bytes, part text")


@dataclass(slots=True)
class RowMaker:
    """Makes the rows of one slice, its runs numbered in log order. Brokers, slices and shards are numbers, from 0."""

    broker: int
    slice_no: int
    shards: int
    run: int = 0

    def rows(self, batch: ScanBatch, topics: TopicTable, *, with_index: bool) -> pa.RecordBatch:
        """What one run of records gives for the queues, each queue in one shard, and for the index."""
        units = _units(batch, topics)
        hashes = np.array([crc32(stored) for stored in topics.stored], np.int64)
        shard = (hashes[batch.units.topic] + batch.units.queue_id) % self.shards
        packed = [(QUEUES, int(number), units.filter(pa.array(shard == number))) for number in np.unique(shard)]
        packed += [(INDEX, 0, _indexed(batch))] if with_index else []
        self.run += 1
        return self._rows([(purpose, number, _stream(rows)) for purpose, number, rows in packed])

    def totals(self, totals: object) -> pa.RecordBatch:
        return self._rows([(REPORT, 0, pickle.dumps(totals))])

    def _rows(self, packed: list[tuple[int, int, bytes]]) -> pa.RecordBatch:
        rows = [(self.broker, purpose, shard, self.slice_no, self.run, content) for purpose, shard, content in packed]
        return pa.RecordBatch.from_pylist([dict(zip(ROWS.names, row, strict=True)) for row in rows], schema=ROWS)


def _units(batch: ScanBatch, topics: TopicTable) -> pa.RecordBatch:
    records, units = batch.records, batch.units
    return pa.RecordBatch.from_pydict(
        {
            "physical_offset": records.physical_offset[units.record],
            "msg_size": records.total_size[units.record],
            "tags_code": records.tags_code[units.record],
            "store_timestamp_ms": records.store_timestamp_ms[units.record],
            "topic": pa.DictionaryArray.from_arrays(units.topic, pa.array(topics.stored, pa.binary())),
            "queue_id": units.queue_id,
            "queue_offset": units.queue_offset,
            "message_count": units.message_count,
        }
    )


def _indexed(batch: ScanBatch) -> pa.RecordBatch:
    """One row per record that is valid for dispatch, with keys or without: either can make a file necessary."""
    records = batch.records
    rows = pa.RecordBatch.from_pydict(
        {
            "physical_offset": records.physical_offset,
            "store_timestamp_ms": records.store_timestamp_ms,
            "key_hashes": pa.ListArray.from_arrays(pa.array(records.first_key, pa.int32()), pa.array(batch.keys)),
        }
    )
    return rows.filter(pa.array(records.state != INVALID))


def _stream(rows: pa.RecordBatch) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write_batch(rows)
    return bytes(sink.getvalue())


def unpacked(rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The units or records of rows of QUEUES or INDEX, run by run."""
    for batch in rows:
        for stream in batch.column("packed"):
            yield from pa.ipc.open_stream(stream.as_buffer())


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


def by_writer(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[tuple[int, ...], pa.RecordBatch]]:
    """The rows, which are in log order, one by one with what says who writes them."""
    for batch in batches:
        writers = zip(*(batch.column(name).to_pylist() for name in ONE_WRITER), strict=True)
        for row, writer in enumerate(writers):
            yield writer, batch.slice(row, 1)


def totals_row(broker: int, purpose: int, slice_no: int, totals: bytes, part: str) -> pa.RecordBatch:
    """One row of TOTALS."""
    row = {"broker": broker, "purpose": purpose, "slice": slice_no, "totals": totals, "part": part}
    return pa.RecordBatch.from_pylist([row], schema=TOTALS)


def _numbers(rows: pa.RecordBatch, name: str, kind: type[Scalar]) -> npt.NDArray[Scalar]:
    """A column without nulls, as an array of its own: compiled code is made for arrays that can be written."""
    return np.array(rows.column(name).to_numpy(zero_copy_only=False), dtype=kind)


def _topic_codes(stored: pa.DictionaryArray, topics: TopicTable) -> npt.NDArray[np.int32]:
    """Codes in another table; only topics that occur get one there."""
    indices = np.asarray(stored.indices.to_numpy(), np.int64)
    codes = np.empty(len(stored.dictionary), np.int32)
    for number in np.unique(indices).tolist():
        codes[number] = topics.code(stored.dictionary[number].as_py())
    return codes[indices]
