"""The timer wheel: a slot for each second of two weeks, with the chain of timers that are due then.

Source: store/timer/TimerWheel.java, Slot.java @5.3.3.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from parsers.damage.errors import DamageSink, report, reporting, torn_end
from parsers.evidence.mapped import map_file
from parsers.evidence.spans import spans
from parsers.layouts.layout import Field, Layout, native
from parsers.store.store_file import StoreFile

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
TIMER_SLOT_SCHEMA = pa.schema(
    [
        ("slot", pa.int32()),
        *((field.name, pa.int64() if field.width == 8 else pa.int32()) for field in TIMER_SLOT.fields[:-1]),
    ]
)
BATCH_SLOTS = 1 << 16
Rows = npt.NDArray[np.void]


def read_wheel(file: StoreFile, *, damage: DamageSink | None = None) -> pa.RecordBatch:
    """The slots of a timerwheel that are in use, as TIMER_SLOT_SCHEMA. `slot` is the due time modulo the slots.

    Raises (or hands to `damage`):
        TruncatedRecord: the size is no multiple of a slot; UnreadableFile.
    """
    slots: list[npt.NDArray[np.int64]] = []
    rows: list[Rows] = []
    with reporting(file.path, damage):
        data = np.frombuffer(map_file(file.path), np.uint8)
        whole = len(data) - len(data) % TIMER_SLOT.size
        if torn := torn_end("a torn timer wheel slot", file.path, len(data), TIMER_SLOT.size):
            report(torn, damage)
        for at, piece in spans(data, 0, whole, BATCH_SLOTS * TIMER_SLOT.size):
            view = np.frombuffer(piece, TIMER_SLOT.dtype)
            used = np.flatnonzero((view["time"] != 0) | (view["timer_count"] != 0))
            slots.append(used + at // TIMER_SLOT.size)
            rows.append(view[used])
    found = np.concatenate(rows or [np.empty(0, TIMER_SLOT.dtype)])
    numbers = np.concatenate(slots or [np.empty(0, np.int64)]).astype(np.int32)
    columns = [pa.array(numbers), *(pa.array(native(found[name])) for name in TIMER_SLOT_SCHEMA.names[1:])]
    return pa.RecordBatch.from_arrays(columns, schema=TIMER_SLOT_SCHEMA)
