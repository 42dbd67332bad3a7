"""Arbitrary-delay timers (since 5.0.0): timerlog units, the timer wheel's slots, timercheck.

Source: store/timer/TimerLog.java, TimerWheel.java, Slot.java, TimerCheckpoint.java, TimerMessageStore.java @5.3.3.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from parsers.commitlog.layout import MAGIC_BLANK
from parsers.constants import NAME, named_constant
from parsers.errors import CorruptRecord, DamageSink, OnDamage, StoreFormatError, TruncatedRecord, report, reporting
from parsers.instants import INSTANT, MAX_MS
from parsers.layout import Field, Layout
from parsers.mapped import map_file
from parsers.runs import JoinedRuns
from parsers.sequence import sequence_errors
from parsers.spans import Bytes, spans, written_end
from parsers.store import StoreFile

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
TIMER_SLOT = Layout(
    "timer wheel slot",
    "store/timer/Slot.java @5.3.3",
    Field("time", "q", "due time divided by the precision (default 1000 ms)"),
    Field("first_position", "q", "timerlog byte of the slot's first unit"),
    Field("last_position", "q", "timerlog byte of the slot's last unit, the head of the chain"),
    Field("timer_count", "i", "timers in the slot; a deletion takes one off"),
    Field("magic", "i", "unused"),
)
WHEEL_BYTES = 2 * 7 * 86_400 * TIMER_SLOT.size
"""Every broker's wheel has a slot for each second of two weeks, whatever its precision.
Source: TimerMessageStore#TIMER_WHEEL_TTL_DAY, TimerWheel#<init> @5.0.0, 5.3.3."""
TIMER_CHECK = Layout(
    "timercheck",
    "store/timer/TimerCheckpoint.java @5.3.3",
    Field("last_read_time_ms", "q", "timers due before it have been delivered"),
    Field("last_flush_position", "q", "timerlog byte up to which it was flushed"),
    Field("last_queue_offset", "q", "queue offset of the next timer message to take in"),
    Field("master_queue_offset", "q", "the same of the master"),
    Field("state_version", "q", "DataVersion"),
    Field("timestamp_ms", "q", "DataVersion"),
    Field("counter", "q", "DataVersion"),
)
UNIT_MAGIC_MASK = 0xF
ROLL, DELETE = 2, 4
TIMER_RECORD_SCHEMA = pa.schema(
    [
        ("file", NAME),
        ("position", pa.int64()),
        ("prev_position", pa.int64()),
        ("is_rolled", pa.bool_()),
        ("is_deletion", pa.bool_()),
        ("write_time", INSTANT),
        ("delay_ms", pa.int32()),
        ("due_time", INSTANT),
        ("physical_offset", pa.int64()),
        ("msg_size", pa.int32()),
        ("real_topic_hash", pa.int32()),
    ]
)
TIMER_SLOT_SCHEMA = pa.schema(
    [
        ("slot", pa.int32()),
        *((field.name, pa.int64() if field.width == 8 else pa.int32()) for field in TIMER_SLOT.fields[:-1]),
    ]
)
BATCH_UNITS = 1 << 16
Rows = npt.NDArray[np.void]


def read_timerlog(
    files: Sequence[StoreFile], *, on_damage: OnDamage = "raise", damage: DamageSink | None = None
) -> Iterator[pa.RecordBatch]:
    """The units of timerlog files, in offset order, as batches of TIMER_RECORD_SCHEMA; other kinds are passed over.

    `position` counts bytes in the whole timerlog. The blank unit that ends a file and the unwritten rest of the last
    one are neither rows nor damage; any other unit that recovery would refuse is damage.
    """
    logs = [file for file in files if file.kind == "timerlog"]
    for error in sequence_errors(logs):
        report(error, on_damage, damage)
    for file in logs:
        with reporting(file.path, on_damage, damage):
            data = np.frombuffer(map_file(file.path), np.uint8)
            yield from _file_batches(file, data, on_damage, damage)


def read_wheel(file: StoreFile, *, on_damage: OnDamage = "raise", damage: DamageSink | None = None) -> pa.RecordBatch:
    """The slots of a timerwheel that are in use, as TIMER_SLOT_SCHEMA. `slot` is the due time modulo the slots.

    Raises (or hands to `damage`, with on_damage="collect"):
        TruncatedRecord: the size is no multiple of a slot; UnreadableFile.
    """
    slots: list[npt.NDArray[np.int64]] = []
    rows: list[Rows] = []
    with reporting(file.path, on_damage, damage):
        data = np.frombuffer(map_file(file.path), np.uint8)
        whole = len(data) - len(data) % TIMER_SLOT.size
        if whole < len(data):
            report(_torn_slot(file, whole, len(data)), on_damage, damage)
        for at, piece in spans(data, 0, whole, BATCH_UNITS * TIMER_SLOT.size):
            view = np.frombuffer(piece, TIMER_SLOT.dtype)
            used = np.flatnonzero((view["time"] != 0) | (view["timer_count"] != 0))
            slots.append(used + at // TIMER_SLOT.size)
            rows.append(view[used])
    found = np.concatenate(rows or [np.empty(0, TIMER_SLOT.dtype)])
    numbers = np.concatenate(slots or [np.empty(0, np.int64)]).astype(np.int32)
    columns = [pa.array(numbers), *(_native(found[name]) for name in TIMER_SLOT_SCHEMA.names[1:])]
    return pa.RecordBatch.from_arrays(columns, schema=TIMER_SLOT_SCHEMA)


def _torn_slot(file: StoreFile, at: int, size: int) -> TruncatedRecord:
    return TruncatedRecord(
        "a torn timer wheel slot",
        at=at,
        expected=TIMER_SLOT.size,
        actual=size - at,
        path=file.path,
        length=size - at,
    )


def read_timercheck(
    file: StoreFile, *, on_damage: OnDamage = "raise", damage: DamageSink | None = None
) -> dict[str, int] | None:
    """The seven numbers of TIMER_CHECK; None where they cannot be read.

    Raises (or hands to `damage`, with on_damage="collect"): TruncatedRecord, UnreadableFile.
    """
    try:
        return TIMER_CHECK.unpack(map_file(file.path))
    except StoreFormatError as error:
        report(error.in_file(file.path), on_damage, damage)
        return None


def _file_batches(
    file: StoreFile, data: Bytes, on_damage: OnDamage, damage: DamageSink | None
) -> Iterator[pa.RecordBatch]:
    refused = JoinedRuns(
        lambda first, end: report(_refused(file, data, first, end), on_damage, damage),
        at_once=on_damage == "raise",
    )
    for at, piece in spans(data, 0, _written(data) * TIMER_UNIT.size, BATCH_UNITS * TIMER_UNIT.size):
        view, start = np.frombuffer(piece, TIMER_UNIT.dtype), at // TIMER_UNIT.size
        magic = view["magic"]
        good = (view["unit_size"] == TIMER_UNIT.size) & (magic & ~UNIT_MAGIC_MASK == 0) & (magic & 1 == 1)
        refused.add(~good, start)
        if good.any():
            yield _columns(file, view[good], (np.flatnonzero(good) + start) * TIMER_UNIT.size)
    refused.close()


def _written(data: Bytes) -> int:
    """Units before the unwritten rest, and before the blank that ends the file."""
    end = min(ceil(written_end(data) / TIMER_UNIT.size), len(data) // TIMER_UNIT.size)
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
            _native(rows["prev_position"]),
            pa.array(rows["magic"] & ROLL != 0),
            pa.array(rows["magic"] & DELETE != 0),
            _instants(written),
            _native(rows["delay_ms"]),
            _instants(written + delays),
            *(_native(rows[name]) for name in ("physical_offset", "msg_size", "real_topic_hash")),
        ],
        schema=TIMER_RECORD_SCHEMA,
    )


def _native(column: npt.NDArray[np.signedinteger]) -> pa.Array:
    return pa.array(column.astype(column.dtype.newbyteorder("=")))


def _instants(millis: npt.NDArray[np.int64]) -> pa.Array:
    beyond = (millis > MAX_MS) | (millis < -MAX_MS)
    return pa.array(np.where(beyond, 0, millis) * 1000, mask=beyond).cast(INSTANT)
