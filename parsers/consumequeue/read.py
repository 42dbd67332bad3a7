"""ConsumeQueue files to Arrow batches, file by file, every byte a row, unwritten or damage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from parsers.consumequeue.arrow import units_to_batch
from parsers.consumequeue.kernel import Bytes
from parsers.consumequeue.layout import CQ_UNIT
from parsers.damage.errors import CorruptRecord, DamageSink, StoreFormatError, report, reporting, torn_end
from parsers.damage.runs import JoinedRuns
from parsers.evidence.mapped import map_file
from parsers.evidence.spans import spans, written_end
from parsers.store.sequence import sequence_errors
from parsers.store.store_file import StoreFile

BATCH_UNITS = 1 << 16


def read_queue(
    files: Sequence[StoreFile],
    *,
    ends_queue: bool = True,
    batch_units: int = BATCH_UNITS,
    damage: DamageSink | None = None,
) -> Iterator[pa.RecordBatch]:
    """The units of one queue's files, which are given in offset order, as batches of UNIT_SCHEMA.

    A unit's queue_offset is (number in the file name + position) / 20. Unwritten units at the end of the queue are
    neither rows nor damage; unwritten ones before written ones are damage, as are units that recovery would refuse.

    Args:
        ends_queue: the last file given is the queue's last, so that its unwritten rest is normal.
        batch_units: most units decoded at once: the memory bound.
    Raises (or hands to `damage`):
        CorruptRecord: a hole, an invalid unit, a name that is no multiple of 20, files that do not join;
        TruncatedRecord: a torn last unit, an empty file; UnreadableFile: the system refuses the file.
    Source: store/ConsumeQueue.java#recover, MappedFileQueue#doLoad @5.3.3.
    """
    for error in sequence_errors(files):
        report(error, damage)
    for number, file in enumerate(files, start=1):
        with reporting(file.path, damage):
            data = np.frombuffer(map_file(file.path), np.uint8)
            for error in _shape_errors(file, len(data)):
                report(error, damage)
            yield from _file_batches(file, data, ends_queue and number == len(files), batch_units, damage)


def units(file: StoreFile) -> npt.NDArray[np.void]:
    """The whole units of one file as a structured view over its map, nothing copied or judged."""
    return CQ_UNIT.array(map_file(file.path))


def _file_batches(
    file: StoreFile, data: Bytes, is_last: bool, batch_units: int, damage: DamageSink | None
) -> Iterator[pa.RecordBatch]:
    whole = len(data) // CQ_UNIT.size
    end = min(whole, ceil(written_end(file.path, data) / CQ_UNIT.size)) if is_last else whole
    refused = JoinedRuns(lambda first, end: report(_refused(file, data, first, end), damage), at_once=damage is None)
    first_queue_offset = (file.base_offset or 0) // CQ_UNIT.size
    for at, run in spans(data, 0, end * CQ_UNIT.size, batch_units * CQ_UNIT.size):
        start = at // CQ_UNIT.size
        batch = units_to_batch(
            run, topic=file.topic or "", queue_id=file.queue_id or 0, first_queue_offset=first_queue_offset + start
        )
        if batch.num_rows < len(run) // CQ_UNIT.size:
            view = np.frombuffer(run, CQ_UNIT.dtype)
            refused.add((view["physical_offset"] < 0) | (view["msg_size"] <= 0), start)
        if batch.num_rows:
            yield batch
    refused.close()


def _refused(file: StoreFile, data: Bytes, first: int, end: int) -> StoreFormatError:
    row = CQ_UNIT.unpack(data.data, first * CQ_UNIT.size)
    return CorruptRecord(
        f"{end - first} ConsumeQueue units that recovery refuses",
        at=first * CQ_UNIT.size,
        field="physical_offset" if row["physical_offset"] < 0 else "msg_size",
        expected="physical_offset >= 0 and msg_size > 0",
        actual=row,
        path=file.path,
        length=(end - first) * CQ_UNIT.size,
    )


def _shape_errors(file: StoreFile, size: int) -> Iterator[StoreFormatError]:
    unit, base_offset = CQ_UNIT.size, file.base_offset or 0
    if base_offset % unit:
        yield CorruptRecord(
            "the number in the file name is not the start of a unit",
            field="file name",
            expected=f"a multiple of {unit}",
            actual=base_offset,
            path=file.path,
        )
    if torn := torn_end("a torn ConsumeQueue unit ends the file", file.path, size, unit):
        yield torn
