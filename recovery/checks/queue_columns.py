"""Queues as columns: what their files hold, and what dispatch makes of the log for each of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from parsers.consumequeue.layout import CQ_UNIT
from parsers.errors import StoreFormatError
from parsers.kernels.written import written_bytes
from parsers.mapped import map_file
from parsers.store import QueueKey, Store, StoreFile
from recovery.checks.columns import LogColumns
from recovery.checks.intervals import Longs
from recovery.checks.queues import QueueFiles, QueueMessages, QueueUnits

NO_UNITS = QueueUnits(*(np.empty(0, np.int64) for _ in QueueUnits._fields))
NO_MESSAGES = QueueMessages(*(np.empty(0, np.int64) for _ in QueueMessages._fields))


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
            count = min(count, -(-written_bytes(np.frombuffer(buffer, np.uint8)) // CQ_UNIT.size))
        view = CQ_UNIT.array(buffer, count=count)
        first = (file.base_offset or 0) // CQ_UNIT.size
        yield np.arange(first, first + count), *(view[name].astype(np.int64) for name in CQ_UNIT.offsets)


def queue_messages(log: LogColumns) -> dict[QueueKey, QueueMessages]:
    """What dispatch makes of the log for each classic queue."""
    rows = np.flatnonzero(log.units.message_count == 0)
    if not len(rows):
        return {}
    key = (log.units.topic[rows].astype(np.int64) << 32) | (log.units.queue_id[rows].astype(np.int64) & 0xFFFFFFFF)
    keys, number = np.unique(key, return_inverse=True)
    small = number.astype(np.int16) if len(keys) < 2**15 else number  # numpy sorts 16-bit integers by radix
    order = np.argsort(small, kind="stable")
    bounds = np.searchsorted(number[order], np.arange(len(keys) + 1))
    record, offsets, messages = log.units.record[rows][order], log.units.queue_offset[rows][order], log.messages
    columns = (offsets, messages.physical_offset[record], messages.total_size[record].astype(np.int64))
    whole = (*columns, messages.tags_code[record])
    return {
        _queue_key(int(code), log): QueueMessages._make(column[start:end] for column in whole)
        for code, start, end in zip(keys, bounds[:-1], bounds[1:], strict=True)
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
