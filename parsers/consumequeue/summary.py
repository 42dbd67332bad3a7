"""What one queue's files say about the queue: its offsets, as the broker computes them from the same files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from parsers.consumequeue.kernel import count_units, first_live_unit, valid_prefix
from parsers.consumequeue.layout import CQ_UNIT
from parsers.damage.errors import DamageSink, reporting
from parsers.evidence.mapped import map_file
from parsers.evidence.spans import spans
from parsers.kernels.arrays import Bytes
from parsers.store.store_file import StoreFile

STEP = CQ_UNIT.size << 20
FILES_RECOVERED = 3  # ConsumeQueue#recover starts at the third-last file


@dataclass(frozen=True, slots=True)
class QueueSummary:
    """One queue of a store.

    `min_queue_offset` is the first message that still exists, `max_queue_offset` the next one to come; equal when the
    queue is empty. `max_physical_offset` is the CommitLog byte after the last message, None without any unit. `units`
    counts messages in the files up to `max_queue_offset`, `pre_blanks` and invalid units left out.
    """

    topic: str
    queue_id: int
    min_queue_offset: int
    max_queue_offset: int
    max_physical_offset: int | None
    units: int
    pre_blanks: int
    files: int


def summarize_queue(
    files: Sequence[StoreFile], *, commitlog_min: int = 0, damage: DamageSink | None = None
) -> QueueSummary:
    """The summary of one queue from its files in offset order; a file that cannot be opened counts as not there.

    The queue ends at the first unit of its last three files that recovery refuses. Its minimum is the first message at
    or above `commitlog_min`, the byte where the CommitLog's first file starts. When its last unit lies below that, the
    queue is empty and its minimum is its maximum (since 5.0.0; after a restart a 4.x broker says 0). Pre-blanks are
    passed over, as the broker that wrote them does; after a restart with a CommitLog from 0 it counts them.

    Source: store/ConsumeQueue.java#recover, #correctMinOffset, #getMaxOffsetInQueue @5.3.3.
    """
    found: list[_Totals] = []
    for number, file in enumerate(files):
        with reporting(file.path, damage):
            data = np.frombuffer(map_file(file.path), np.uint8)
            found.append(_totals(file, data, number >= len(files) - FILES_RECOVERED, commitlog_min))
            if found[-1].ends_queue:
                break
    topic, queue_id = (files[0].topic or "", files[0].queue_id or 0) if files else ("", 0)
    max_queue_offset = found[-1].first_queue_offset + found[-1].units if found else 0
    last_physical_offset = next((totals.last_physical_offset for totals in reversed(found) if totals.units), -1)
    live = (totals.first_live for totals in found if totals.first_live is not None)
    expired = last_physical_offset < commitlog_min
    return QueueSummary(
        topic=topic,
        queue_id=queue_id,
        min_queue_offset=max_queue_offset if expired else next(live, max_queue_offset),
        max_queue_offset=max_queue_offset,
        max_physical_offset=next((totals.end for totals in reversed(found) if totals.end >= 0), None),
        units=sum(totals.messages for totals in found),
        pre_blanks=sum(totals.pre_blanks for totals in found),
        files=len(files),
    )


@dataclass(slots=True)
class _Totals:
    """One file up to where the queue ends; `first_live` is a queue offset, `end` and -1 as `count_units` gives them."""

    first_queue_offset: int
    units: int
    ends_queue: bool
    last_physical_offset: int = -1
    messages: int = 0
    pre_blanks: int = 0
    end: int = -1
    first_live: int | None = None


def _totals(file: StoreFile, data: Bytes, is_recovered: bool, commitlog_min: int) -> _Totals:
    whole = len(data) // CQ_UNIT.size
    units = _valid_units(data) if is_recovered else whole
    totals = _Totals((file.base_offset or 0) // CQ_UNIT.size, units, ends_queue=units < whole)
    if units:
        last = CQ_UNIT.unpack(data.data, (units - 1) * CQ_UNIT.size)
        totals.last_physical_offset = last["physical_offset"]
    for at, piece in spans(data, 0, units * CQ_UNIT.size, STEP):
        messages, blanks, end = count_units(piece)
        totals.messages += messages
        totals.pre_blanks += blanks
        totals.end = end if end >= 0 else totals.end
        unit = first_live_unit(piece, commitlog_min) if totals.first_live is None else -1
        if unit >= 0:
            totals.first_live = totals.first_queue_offset + at // CQ_UNIT.size + unit
    return totals


def _valid_units(data: Bytes) -> int:
    """Units before the first one that recovery refuses."""
    whole = len(data) // CQ_UNIT.size
    for at, piece in spans(data, 0, whole * CQ_UNIT.size, STEP):
        valid = valid_prefix(piece)
        if valid < len(piece) // CQ_UNIT.size:
            return at // CQ_UNIT.size + valid
    return whole
