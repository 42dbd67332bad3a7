"""What one queue's files say about the queue: its offsets, as the broker computes them from the same files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from parsers.consumequeue.kernel import Bytes, count_units, first_live_unit, valid_prefix
from parsers.consumequeue.layout import CQ_UNIT
from parsers.errors import DamageSink, OnDamage, StoreFormatError, report
from parsers.mapped import map_file
from parsers.store import StoreFile

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
    files: Sequence[StoreFile],
    *,
    commitlog_min: int = 0,
    on_damage: OnDamage = "raise",
    damage: DamageSink | None = None,
) -> QueueSummary:
    """The summary of one queue from its files in offset order; a file that cannot be opened counts as not there.

    The queue ends at the first unit of its last three files that recovery refuses. Its minimum is the first message at
    or above `commitlog_min`, the byte where the CommitLog's first file starts. When its last unit lies below that, the
    queue is empty and its minimum is its maximum (since 5.0.0; after a restart a 4.x broker says 0). Pre-blanks are
    passed over, as the broker that wrote them does; after a restart with a CommitLog from 0 it counts them.

    Source: store/ConsumeQueue.java#recover, #correctMinOffset, #getMaxOffsetInQueue @5.3.3.
    """
    opened: list[tuple[StoreFile, Bytes]] = []
    for file in files:
        try:
            opened.append((file, np.frombuffer(map_file(file.path), np.uint8)))
        except StoreFormatError as refused:
            report(refused, on_damage, damage)
    topic, queue_id = (files[0].topic or "", files[0].queue_id or 0) if files else ("", 0)
    if not opened:
        return QueueSummary(topic, queue_id, 0, 0, None, 0, 0, len(files))
    last, units_in_last = _end(opened)
    max_queue_offset = _first_queue_offset(opened[last][0]) + units_in_last
    counted = [data for _, data in opened[:last]] + [opened[last][1][: units_in_last * CQ_UNIT.size]]
    totals = [count_units(data) for data in counted]
    ends = [end for _, _, end in totals if end >= 0]
    first_live = None if _last_physical_offset(counted) < commitlog_min else _first_live(opened, counted, commitlog_min)
    return QueueSummary(
        topic=topic,
        queue_id=queue_id,
        min_queue_offset=max_queue_offset if first_live is None else first_live,
        max_queue_offset=max_queue_offset,
        max_physical_offset=ends[-1] if ends else None,
        units=sum(units for units, _, _ in totals),
        pre_blanks=sum(blanks for _, blanks, _ in totals),
        files=len(files),
    )


def _end(opened: Sequence[tuple[StoreFile, Bytes]]) -> tuple[int, int]:
    """Where recovery ends the queue: the file's number in the list, and the valid units at that file's start."""
    for number in range(max(0, len(opened) - FILES_RECOVERED), len(opened)):
        data = opened[number][1]
        valid = valid_prefix(data, 0)
        if valid < len(data) // CQ_UNIT.size:
            return number, valid
    return len(opened) - 1, len(opened[-1][1]) // CQ_UNIT.size


def _first_queue_offset(file: StoreFile) -> int:
    return (file.base_offset or 0) // CQ_UNIT.size


def _first_live(opened: Sequence[tuple[StoreFile, Bytes]], counted: Sequence[Bytes], commitlog_min: int) -> int | None:
    """The queue offset of the first message that still has its record."""
    for (file, _), data in zip(opened, counted, strict=False):
        unit = first_live_unit(data, commitlog_min)
        if unit >= 0:
            return _first_queue_offset(file) + unit
    return None


def _last_physical_offset(counted: Sequence[Bytes]) -> int:
    """The last unit before the queue's end, as correctMinOffset looks at it; -1 when the files hold none."""
    for data in reversed(counted):
        if len(data) >= CQ_UNIT.size:
            return int(np.frombuffer(data, CQ_UNIT.dtype, len(data) // CQ_UNIT.size)["physical_offset"][-1])
    return -1
