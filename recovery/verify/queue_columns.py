"""Queues as columns: what is left of them after the first pass, on both sides."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from parsers.consumequeue.layout import CQ_UNIT
from parsers.kernels.arrays import Longs
from parsers.store.store import Store
from parsers.store.store_file import QueueKey
from parsers.values.java import LONG_MAX
from recovery.rebuild.queue_kernel import fill_groups, larger, new_state, number_queues
from recovery.scan.intervals import Intervals
from recovery.scan.queue_numbers import unpack_key
from recovery.verify.checks.queue.compared import QueueHead, QueueMessages, QueueUnits
from recovery.verify.checks.queue.places import QueueFiles
from recovery.verify.settle.log_columns import LogColumns
from recovery.verify.settle.outline import QueueTrace
from recovery.verify.settle.queue_disk import FileUnits, QueueOnDisk
from recovery.verify.settle.settle_kernel import NONE, past_head

FEW_QUEUES = 1 << 10
NO_UNITS = QueueUnits(*(np.empty(0, np.int64) for _ in QueueUnits._fields))
NO_MESSAGES = QueueMessages(*(np.empty(0, np.int64) for _ in QueueMessages._fields))


@dataclass(frozen=True, slots=True)
class LeftQueue:
    """One queue after the first pass: the units that are not settled, in file order, without its head.

    `messages`: physical offsets of those not settled. `is_whole`: nothing of it is settled, all its messages are asked
    for.
    """

    disk: QueueOnDisk
    trace: QueueTrace
    head: QueueHead
    units: QueueUnits
    messages: Longs
    is_whole: bool

    @classmethod
    def of(
        cls, disk: QueueOnDisk, trace: QueueTrace, log_start: int, *, whole: bool = False, living_from: int = 0
    ) -> LeftQueue:
        """`whole`: as if nothing had been settled. Of messages before `living_from` only those with a unit count."""
        trace = QueueTrace(most=trace.most, left=trace.left) if whole else trace
        head = np.zeros(len(QueueHead._fields) - 3, np.int64)
        settled_from = LONG_MAX if trace.first == NONE else trace.first
        pieces: list[QueueUnits] = []
        for units, first, end in _spans(disk, trace):
            data, start = units.bytes(), first - units.first
            in_head = disk.in_order and first < settled_from and not pieces
            if in_head and len(data) >= units.units * CQ_UNIT.size:
                start = past_head(data, start, end - units.first, log_start, head, units.first)
            if start < end - units.first:
                pieces.append(_columns(units, start, end - units.first))
        rest, left = _joined(pieces), np.concatenate([np.empty(0, np.int64), *trace.left])
        if living_from:
            left = left[(left >= living_from) | np.isin(left, _led_to(rest))]
        settled = (settled_from, trace.following, Intervals.of(trace.spans))
        return cls(disk, trace, QueueHead._make([*head.tolist(), *settled]), rest, left, whole)

    @property
    def is_settled(self) -> bool:
        return not len(self.units.queue_offset) and not len(self.messages)

    @property
    def places(self) -> Longs:
        """Physical offsets of all records that the queue's rule has to know."""
        return np.union1d(_led_to(self.units), self.messages)

    def first_place(self) -> int | None:
        """Where the message of the queue's first unit starts that is neither pre-blank nor invalid.

        None where that unit is settled: its message is in the log.
        """
        units, head = self.units, self.head
        real = np.flatnonzero(~units.is_pre_blank & ~units.is_hole)
        slots = [head.first_expired] if head.expired else []
        slots += [head.settled_from] if head.settled_from != LONG_MAX else []
        slots += units.queue_offset[real[:1]].tolist()
        if not slots:
            return None
        first = min(slots)
        if len(real) and (not self.disk.in_order or first == slots[-1]):
            return int(units.physical_offset[real[0]])
        found = None if first == head.settled_from else self.disk.pointer(first)
        return None if found is None else found[0]

    def last_end(self, log_end: int, own: QueueMessages) -> int | None:
        """The end of the message of the queue's last unit that points into the log, or before it, with its whole size.

        `own`: the queue's messages that are not settled. A unit in the place of one of them that leads to none of them
        is wrong, and tells nothing of how far dispatch had come.
        """
        units, head = self.units, self.head
        real = self._rows_before(log_end, own) if len(units.queue_offset) else units.queue_offset
        slots = [head.last_expired] if head.expired else []
        slots += [self.trace.following - 1] if self.trace.first != NONE else []
        slots += units.queue_offset[real[-1:]].tolist()
        if not slots:
            return None
        last = max(slots)
        if len(real) and (not self.disk.in_order or last == slots[-1]):
            return int(units.physical_offset[real[-1]] + units.msg_size[real[-1]])
        found = self.disk.pointer(last)
        return None if found is None else sum(found)

    def _rows_before(self, log_end: int, own: QueueMessages) -> Longs:
        """The units that `last_end` goes by, among those that are not settled."""
        units = self.units
        wrong = np.isin(units.queue_offset, own.queue_offset) & ~np.isin(units.physical_offset, own.physical_offset)
        ends_in_log = (units.physical_offset < log_end) & (units.msg_size <= log_end - units.physical_offset)
        return np.flatnonzero(~units.is_pre_blank & ~units.is_hole & ~wrong & ends_in_log)

    def at(self, queue_offsets: Longs) -> QueueUnits:
        """The units at these queue offsets, in rising order, as far as files have them."""
        pieces = []
        for units in self.disk.files:
            first, end = np.searchsorted(queue_offsets, (units.first, units.end)).tolist()
            if first < end:
                rows = queue_offsets[first:end] - units.first
                whole = _columns(units, int(rows[0]), int(rows[-1]) + 1)
                there = rows[rows - rows[0] < len(whole.queue_offset)] - rows[0]
                pieces.append(QueueUnits._make(column[there] for column in whole))
        return _joined(pieces)

    def with_settled(self, messages: QueueMessages) -> QueueUnits:
        """The units that are left, and those of these messages, as far as they are in their place."""
        if self.is_whole or not self.disk.in_order or not len(messages.queue_offset):
            return self.units
        wanted = np.setdiff1d(messages.queue_offset, self.units.queue_offset)
        found = self.at(wanted)
        rows = np.searchsorted(found.queue_offset, messages.queue_offset)
        rows = np.minimum(rows, max(0, len(found.queue_offset) - 1))
        same = np.full(len(messages.queue_offset), bool(len(found.queue_offset)))
        for ours, theirs in zip(messages, found, strict=True):
            same &= theirs[rows] == ours if len(theirs) else False
        settled = np.unique(rows[same])
        joined = [np.concatenate((left, more[settled])) for left, more in zip(self.units, found, strict=True)]
        order = np.argsort(joined[0], kind="stable")
        return QueueUnits._make(column[order] for column in joined)


def _led_to(units: QueueUnits) -> Longs:
    """Where the units lead to; what stands where none was written leads nowhere."""
    return units.physical_offset[~units.is_hole & ~units.is_pre_blank]


def _spans(disk: QueueOnDisk, trace: QueueTrace) -> Iterator[tuple[FileUnits, int, int]]:
    """The units that are not settled, as queue offsets, file by file."""
    if not disk.files:
        return
    if trace.first == NONE or not disk.in_order:
        yield from ((units, units.first, units.end) for units in disk.files)
        return
    for first, end in ((disk.files[0].first, trace.first), *trace.spans, (trace.following, disk.end)):
        for units in disk.files:
            if max(first, units.first) < min(end, units.end):
                yield units, max(first, units.first), min(end, units.end)


def _columns(units: FileUnits, first: int, end: int) -> QueueUnits:
    """Units `first` to before `end` of a file, as far as it has them any more."""
    data = units.bytes()
    first, end = (min(each, len(data) // CQ_UNIT.size) for each in (first, end))
    view = CQ_UNIT.array(data.data, at=first * CQ_UNIT.size, count=end - first)
    offsets = np.arange(units.first + first, units.first + first + len(view))
    return QueueUnits(offsets, *(view[name].astype(np.int64) for name in CQ_UNIT.offsets))


def _joined(pieces: list[QueueUnits]) -> QueueUnits:
    if not pieces:
        return NO_UNITS
    return QueueUnits._make(np.concatenate(column) for column in zip(NO_UNITS, *pieces, strict=True))


def queue_messages(log: LogColumns) -> dict[QueueKey, QueueMessages]:
    """What dispatch makes of these records of the log for each classic queue."""
    units, messages = log.units, log.messages
    state, number, row = new_state(FEW_QUEUES), np.empty(len(units.record), np.int32), 0
    while row < len(number):
        row = number_queues(state, units.topic, units.queue_id, units.message_count, number, row)
        if row < len(number):
            state = larger(state, 4 * len(state.key))
    counts = np.bincount(number[number >= 0], minlength=int(state.met[0]))
    bounds = np.concatenate(([0], np.cumsum(counts)))
    order = np.empty(int(bounds[-1]), np.int64)
    fill_groups(number, bounds[:-1].copy(), order)
    record = units.record[order]
    sizes = messages.total_size[record].astype(np.int64)
    whole = units.queue_offset[order], messages.physical_offset[record], sizes, messages.tags_code[record]
    found: dict[QueueKey, QueueMessages] = {}
    for code, start, end in zip(state.key, bounds[:-1], bounds[1:], strict=False):
        topic, queue_id = unpack_key(int(code))
        found[log.topics[topic], queue_id] = QueueMessages._make(column[start:end] for column in whole)
    return found


def of_places(messages: QueueMessages, places: Longs) -> QueueMessages:
    """The messages at these physical offsets."""
    chosen = np.isin(messages.physical_offset, places)
    return QueueMessages._make(column[chosen] for column in messages)


def queue_files(store: Store, key: QueueKey, file_size: int) -> QueueFiles:
    """Where the units of a queue in files lie, or would lie."""
    files = store.queues.get(key, [])
    topic, queue_id = key
    return QueueFiles(
        topic=topic,
        queue_id=queue_id,
        file_size=file_size,
        bases=tuple(file.base_offset or 0 for file in files),
        sizes=tuple(file.size for file in files),
    )
