"""Queues as columns: what their files hold, and what dispatch makes of the log for each of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from parsers.consumequeue.layout import CQ_UNIT
from parsers.errors import StoreFormatError
from parsers.extents import data_end
from parsers.kernels.written import written_bytes
from parsers.mapped import map_file
from parsers.store import QueueKey, Store, StoreFile
from recovery.checks.columns import LogColumns
from recovery.checks.intervals import Longs
from recovery.checks.queues import QueueFiles, QueueMessages, QueueUnits
from recovery.queue_kernel import fill_groups, larger, new_state, number_queues

FEW_QUEUES = 1 << 10
NO_UNITS = QueueUnits(*(np.empty(0, np.int64) for _ in QueueUnits._fields))
NO_MESSAGES = QueueMessages(*(np.empty(0, np.int64) for _ in QueueMessages._fields))


def on_grid(files: Sequence[StoreFile], file_size: int) -> list[StoreFile]:
    """The files that start where a file of the queue can start, counted from its first one."""
    first = files[0].base_offset or 0 if files else 0
    return [file for file in files if ((file.base_offset or 0) - first) % file_size == 0]


def read_units(files: Sequence[StoreFile]) -> QueueUnits:
    """The units of a queue's files up to the last one written, whatever they hold; a file that is refused has none."""
    columns = list(_columns(files))
    if not columns:
        return NO_UNITS
    found = QueueUnits._make(np.concatenate(column) for column in zip(*columns, strict=True))
    written = np.flatnonzero((found.physical_offset != 0) | (found.msg_size != 0) | (found.tags_code != 0))
    return QueueUnits._make(column[: int(written[-1]) + 1 if len(written) else 0] for column in found)


def _columns(files: Sequence[StoreFile]) -> Iterator[tuple[Longs, ...]]:
    for file in files:
        try:
            buffer = map_file(file.path)
        except StoreFormatError:
            continue
        count = len(buffer) // CQ_UNIT.size
        if file is files[-1]:
            written = written_bytes(np.frombuffer(buffer, np.uint8)[: data_end(file.path)])
            count = min(count, -(-written // CQ_UNIT.size))
        view = CQ_UNIT.array(buffer, count=count)
        first = (file.base_offset or 0) // CQ_UNIT.size
        yield np.arange(first, first + count), *(view[name].astype(np.int64) for name in CQ_UNIT.offsets)


def queue_messages(log: LogColumns) -> dict[QueueKey, QueueMessages]:
    """What dispatch makes of the log for each classic queue."""
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
    return {
        _queue_key(int(code), log): QueueMessages._make(column[start:end] for column in whole)
        for code, start, end in zip(state.key, bounds[:-1], bounds[1:], strict=False)
    }


def _queue_key(key: int, log: LogColumns) -> QueueKey:
    topic, queue_id = divmod(key, 1 << 32)
    return log.topics[topic], queue_id if queue_id < 1 << 31 else queue_id - (1 << 32)


def queue_files(store: Store, key: QueueKey, file_size: int) -> QueueFiles:
    """Where the units of a queue lie, or would lie."""
    files = store.queues.get(key, [])
    topic, queue_id = key
    return QueueFiles(
        topic=topic,
        queue_id=queue_id,
        folder=f"consumequeue/{topic}/{queue_id}",
        file_size=file_size,
        bases=tuple(file.base_offset or 0 for file in files),
        sizes=tuple(file.size for file in files),
    )
