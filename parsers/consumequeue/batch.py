"""BatchConsumeQueue files (since 5.0.0): one 46-byte unit for each record, which may hold many messages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import ceil
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from parsers.consumequeue.summary import FILES_RECOVERED, QueueSummary
from parsers.damage.errors import CorruptRecord, DamageSink, StoreFormatError, report, reporting, torn_end
from parsers.damage.runs import JoinedRuns
from parsers.evidence.mapped import map_file
from parsers.evidence.spans import spans, written_end
from parsers.kernels.arrays import Bytes
from parsers.layouts.columns import schema_from
from parsers.layouts.constants import constant, named_constant
from parsers.layouts.layout import Field, Layout, native
from parsers.store.sequence import sequence_errors
from parsers.store.store_file import StoreFile
from parsers.values.java import to_long

BATCH_UNIT = Layout(
    "BatchConsumeQueue unit",
    "store/queue/BatchConsumeQueue.java#putBatchMessagePositionInfo @5.3.3",
    Field("physical_offset", "q", "where the record starts, byte in the CommitLog"),
    Field("msg_size", "i", "bytes of the whole record (TOTALSIZE)"),
    Field("tags_code", "q", "String.hashCode of TAGS"),
    Field("store_timestamp_ms", "q", "when the broker stored the record"),
    Field("queue_offset", "q", "queue offset of the record's first message"),
    Field("message_count", "h", "messages in the record (1 unless it is an inner batch)"),
    Field("compact_offset", "i", "always -1, unused"),
    Field("reserved", "i", "always 0"),
)
TERMINATOR = (-1, 0)
"""physical_offset and msg_size of the unit after the last one of a compacted queue's file that the next one follows.
Source: SparseConsumeQueue#putEndPositionInfo @5.3.3."""
BATCH_UNIT_SCHEMA = schema_from(
    "topic word, queue_id i32, queue_offset i64, message_count i16, physical_offset i64, msg_size i32, tags_code i64, "
    "store_timestamp_ms i64"
)
TORN = "a torn BatchConsumeQueue unit ends the file"
BATCH_UNITS = 1 << 16
Units = npt.NDArray[np.void]


def read_batch_queue(
    files: Sequence[StoreFile], *, ends_queue: bool = True, damage: DamageSink | None = None
) -> Iterator[pa.RecordBatch]:
    """The units of one batch queue's files, in offset order, as batches of BATCH_UNIT_SCHEMA; cf. `read_queue`.

    queue_offset is read from the unit: a unit's place says nothing about it. The terminator that ends a compaction
    queue's file (physical_offset -1) and unwritten units at the end of the queue are neither rows nor damage.
    """
    for error in sequence_errors(files):
        report(error, damage)
    for number, file in enumerate(files, start=1):
        with reporting(file.path, damage):
            buffer = map_file(file.path)
            if torn := torn_end(TORN, file.path, len(buffer), BATCH_UNIT.size):
                report(torn, damage)
            is_last = ends_queue and number == len(files)
            yield from _file_batches(file, np.frombuffer(buffer, np.uint8), is_last, damage)


def summarize_batch_queue(
    files: Sequence[StoreFile],
    *,
    commitlog_min: int = 0,
    without: range | None = None,
    damage: DamageSink | None = None,
) -> QueueSummary:
    """The summary of one batch queue: its maximum is the last valid unit's first message plus its message count.

    `without`: as if it ended before the first unit of a record that starts at one of these physical offsets.
    Source: store/queue/BatchConsumeQueue.java#recover, #correctMinOffset, #getMaxOffsetInQueue @5.3.3.
    """
    topic, queue_id = (files[0].topic or "", files[0].queue_id or 0) if files else ("", 0)
    summary = QueueSummary(topic, queue_id, 0, 0, None, 0, 0, len(files))
    first_live = None
    rows_in_order = _valid_rows(files, damage)
    for rows in rows_in_order if without is None else _before(rows_in_order, without):
        live = rows["queue_offset"][rows["physical_offset"] >= commitlog_min]
        first_live = int(live[0]) if first_live is None and len(live) else first_live
        summary = replace(
            summary,
            max_queue_offset=to_long(int(rows["queue_offset"][-1]) + int(rows["message_count"][-1])),
            max_physical_offset=to_long(int(rows["physical_offset"][-1]) + int(rows["msg_size"][-1])),
            units=summary.units + len(rows),
        )
    return replace(summary, min_queue_offset=summary.max_queue_offset if first_live is None else first_live)


def _before(rows_in_order: Iterator[Units], places: range) -> Iterator[Units]:
    """The units before the first of a record that starts at one of these physical offsets."""
    for rows in rows_in_order:
        there = (rows["physical_offset"] >= places.start) & (rows["physical_offset"] < places.stop)
        first = int(np.argmax(there)) if there.any() else len(rows)
        if first:
            yield rows[:first]
        if first < len(rows):
            return


def read_units(file: StoreFile, *, ends_queue: bool) -> Units:
    """The units of one file, of a queue's last one those before the first that recovery refuses.

    Raises StoreFormatError: the file cannot be read.
    """
    data = map_file(file.path)
    view = np.frombuffer(data, BATCH_UNIT.dtype, len(data) // BATCH_UNIT.size)
    valid = valid_units(view) if ends_queue else np.ones(len(view), np.bool_)
    return view if valid.all() else view[: int(np.argmin(valid))]


def _valid_rows(files: Sequence[StoreFile], damage: DamageSink | None) -> Iterator[Units]:
    """The valid units up to the first one of the last three files that recovery refuses, some at a time."""
    for number, file in enumerate(files):
        with reporting(file.path, damage):
            data = np.frombuffer(map_file(file.path), np.uint8)
            whole = len(data) // BATCH_UNIT.size * BATCH_UNIT.size
            for _, piece in spans(data, 0, whole, BATCH_UNITS * BATCH_UNIT.size):
                view = np.frombuffer(piece, BATCH_UNIT.dtype)
                valid = valid_units(view)
                ends_queue = number >= len(files) - FILES_RECOVERED and not valid.all()
                rows = view[: int(np.argmin(valid))] if ends_queue else view[valid]
                if len(rows):
                    yield rows
                if ends_queue:
                    return


def valid_units(view: Units) -> npt.NDArray[np.bool_]:
    """BatchConsumeQueue#recover: all four numbers must make sense."""
    placed = (view["physical_offset"] >= 0) & (view["msg_size"] > 0)
    accepted: npt.NDArray[np.bool_] = placed & (view["queue_offset"] >= 0) & (view["message_count"] > 0)
    return accepted


def _file_batches(file: StoreFile, data: Bytes, is_last: bool, damage: DamageSink | None) -> Iterator[pa.RecordBatch]:
    refused = JoinedRuns(lambda first, end: report(_refused(file, data, first, end), damage), at_once=damage is None)
    end = _written(file.path, data) if is_last else len(data) // BATCH_UNIT.size
    for at, piece in spans(data, 0, end * BATCH_UNIT.size, BATCH_UNITS * BATCH_UNIT.size):
        view = np.frombuffer(piece, BATCH_UNIT.dtype)
        valid = valid_units(view)
        refused.add(~valid, at // BATCH_UNIT.size)
        if valid.any():
            yield _columns(file, view[valid])
    refused.close()


def _written(path: Path, data: Bytes) -> int:
    """Units before the unwritten rest, and before the terminator that ends a compaction queue's file."""
    end = min(ceil(written_end(path, data) / BATCH_UNIT.size), len(data) // BATCH_UNIT.size)
    last = BATCH_UNIT.unpack(data.data, (end - 1) * BATCH_UNIT.size) if end else {}
    ends_with_terminator = last and (last["physical_offset"], last["msg_size"]) == TERMINATOR
    return end - 1 if ends_with_terminator else end


def _refused(file: StoreFile, data: Bytes, first: int, end: int) -> StoreFormatError:
    return CorruptRecord(
        f"{end - first} BatchConsumeQueue units that recovery refuses",
        at=first * BATCH_UNIT.size,
        expected="physical_offset and queue_offset >= 0, msg_size and message_count > 0",
        actual=BATCH_UNIT.unpack(data.data, first * BATCH_UNIT.size),
        path=file.path,
        length=(end - first) * BATCH_UNIT.size,
    )


def _columns(file: StoreFile, rows: Units) -> pa.RecordBatch:
    columns = [named_constant(file.topic or "", len(rows)), constant(file.queue_id or 0, len(rows))]
    columns += (pa.array(native(rows[name])) for name in BATCH_UNIT_SCHEMA.names[2:])
    return pa.RecordBatch.from_arrays(columns, schema=BATCH_UNIT_SCHEMA)
