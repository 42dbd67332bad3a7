"""The timerlog: a unit for each timer, chained backwards by the slots of the wheel.

Source: store/timer/TimerLog.java, TimerMessageStore.java @5.3.3.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from parsers.commitlog.record.layout import MAGIC_BLANK
from parsers.damage.errors import CorruptRecord, DamageSink, StoreFormatError, report, reporting
from parsers.damage.runs import JoinedRuns
from parsers.evidence.mapped import map_file
from parsers.evidence.spans import spans, written_end
from parsers.kernels.arrays import Bytes
from parsers.layouts.columns import TIMESTAMP
from parsers.layouts.constants import named_constant
from parsers.layouts.instants import MAX_MS
from parsers.layouts.layout import Field, Layout, native
from parsers.store.sequence import sequence_errors
from parsers.store.store_file import StoreFile
from parsers.timer.schema import TIMER_RECORD_SCHEMA

TIMER_UNIT = Layout(
    "timerlog unit",
    "store/timer/TimerLog.java, TimerMessageStore.java#doEnqueue @5.3.3",
    Field("unit_size", "i", "always 52"),
    Field("prev_position", "q", "timerlog byte of the unit before it in the same slot, -1 for none"),
    Field("magic", "i", "bits: 1 always, 2 rolled (due later than it says), 4 deletes a timer"),
    Field("write_time_ms", "q", "when it was written, rounded to the precision"),
    Field("delay_ms", "i", "due this long after write_time_ms"),
    Field("physical_offset", "q", "where the timer message starts, byte in the CommitLog"),
    Field("msg_size", "i", "bytes of the timer message"),
    Field("real_topic_hash", "i", "String.hashCode of the topic it will be delivered to, 0 for none"),
    Field("reserved", "q", "always 0"),
)
TIMER_BLANK = Layout(
    "timerlog end of file",
    "store/timer/TimerLog.java#append @5.3.3",
    Field("rest_size", "i", "bytes from here to the end of the file"),
    Field("reserved", "q", "always 0"),
    Field("magic", "i", "0xCBD43194, as in the CommitLog, but at byte 12"),
)
UNIT_MAGIC_MASK = 0xF
ROLL, DELETE = 2, 4
BATCH_UNITS = 1 << 16
Rows = npt.NDArray[np.void]


def read_timerlog(files: Sequence[StoreFile], *, damage: DamageSink | None = None) -> Iterator[pa.RecordBatch]:
    """The units of timerlog files, in offset order, as batches of TIMER_RECORD_SCHEMA; other kinds are passed over.

    `position` counts bytes in the whole timerlog. The blank unit that ends a file and the unwritten rest of the last
    one are neither rows nor damage; any other unit that recovery would refuse is damage.
    """
    logs = [file for file in files if file.kind == "timerlog"]
    for error in sequence_errors(logs):
        report(error, damage)
    for file in logs:
        with reporting(file.path, damage):
            data = np.frombuffer(map_file(file.path), np.uint8)
            yield from _file_batches(file, data, damage)


def _file_batches(file: StoreFile, data: Bytes, damage: DamageSink | None) -> Iterator[pa.RecordBatch]:
    refused = JoinedRuns(lambda first, end: report(_refused(file, data, first, end), damage), at_once=damage is None)
    for at, piece in spans(data, 0, _written(file.path, data) * TIMER_UNIT.size, BATCH_UNITS * TIMER_UNIT.size):
        view, start = np.frombuffer(piece, TIMER_UNIT.dtype), at // TIMER_UNIT.size
        magic = view["magic"]
        good = (view["unit_size"] == TIMER_UNIT.size) & (magic & ~UNIT_MAGIC_MASK == 0) & (magic & 1 == 1)
        refused.add(~good, start)
        if good.any():
            yield _columns(file, view[good], (np.flatnonzero(good) + start) * TIMER_UNIT.size)
    refused.close()


def _written(path: Path, data: Bytes) -> int:
    """Units before the unwritten rest, and before the blank that ends the file."""
    end = min(ceil(written_end(path, data) / TIMER_UNIT.size), len(data) // TIMER_UNIT.size)
    ends_with_blank = end and TIMER_UNIT.unpack(data.data, (end - 1) * TIMER_UNIT.size)["magic"] == MAGIC_BLANK
    return end - 1 if ends_with_blank else end


def _refused(file: StoreFile, data: Bytes, first: int, end: int) -> StoreFormatError:
    row = TIMER_UNIT.unpack(data.data, first * TIMER_UNIT.size)
    return CorruptRecord(
        f"{end - first} timerlog units that recovery refuses",
        at=first * TIMER_UNIT.size,
        field="unit_size" if row["unit_size"] != TIMER_UNIT.size else "magic",
        expected=f"unit_size {TIMER_UNIT.size} and magic 1 with bits 2, 4 or 8",
        actual=row,
        path=file.path,
        length=(end - first) * TIMER_UNIT.size,
    )


def _columns(file: StoreFile, rows: Rows, places: npt.NDArray[np.int64]) -> pa.RecordBatch:
    written, delays = rows["write_time_ms"].astype(np.int64), rows["delay_ms"].astype(np.int64)
    return pa.RecordBatch.from_arrays(
        [
            named_constant(file.name, len(rows)),
            pa.array(places + (file.base_offset or 0)),
            pa.array(native(rows["prev_position"])),
            pa.array(rows["magic"] & ROLL != 0),
            pa.array(rows["magic"] & DELETE != 0),
            _instants(written),
            pa.array(native(rows["delay_ms"])),
            _instants(written + delays),
            *(pa.array(native(rows[name])) for name in ("physical_offset", "msg_size", "real_topic_hash")),
        ],
        schema=TIMER_RECORD_SCHEMA,
    )


def _instants(millis: npt.NDArray[np.int64]) -> pa.Array:
    beyond = (millis > MAX_MS) | (millis < -MAX_MS)
    return pa.array(np.where(beyond, 0, millis) * 1000, mask=beyond).cast(TIMESTAMP)
