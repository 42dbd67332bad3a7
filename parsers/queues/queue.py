"""One queue of a store under one contract, whatever keeps it: files of either type of unit, or a database."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple, Protocol

import pyarrow as pa

from parsers.commitlog.record.layout import SMALLEST_MESSAGE
from parsers.consumequeue.batch import read_batch_queue, summarize_batch_queue
from parsers.consumequeue.layout import CQ_UNIT
from parsers.consumequeue.read import read_queue, units
from parsers.consumequeue.summary import QueueSummary, summarize_queue
from parsers.damage.errors import DamageSink, StoreFormatError
from parsers.evidence.extents import data_end
from parsers.evidence.mapped import read_at
from parsers.rocksdb.queue_table import QueueTable
from parsers.rocksdb.queue_units import queue_ends, summarize, units_to_batches
from parsers.store.store_file import QueueKey, StoreFile


class Pointer(NamedTuple):
    """Where a unit points to: bytes of the CommitLog."""

    physical_offset: int
    msg_size: int


class SampledUnit(NamedTuple):
    """A unit by itself: where it points to, and its tags code."""

    physical_offset: int
    msg_size: int
    tags_code: int


class Queue(Protocol):
    """One queue of a store. What cannot be read of it goes the way that was said when it was opened."""

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Every unit, in order: see the schemas of the three kinds for the columns."""

    def summary(self, commitlog_min: int) -> QueueSummary:
        """Its offsets and how many units it has; `commitlog_min`: the byte where the CommitLog starts."""

    def ends(self, commitlog_min: int) -> tuple[int, int]:
        """The first message that still exists, and the next one to come."""

    def unit(self, queue_offset: int) -> dict[str, int] | None:
        """The fields of the unit of a message number, `tags_code` among them; None where there is no such message."""

    def pointer(self, queue_offset: int) -> Pointer | None:
        """The record of a message number, None where there is no such message."""

    def last_pointer(self) -> Pointer | None:
        """The record of the last message, None without one."""

    def sample(self, most: int) -> Iterator[SampledUnit]:
        """Some units, `most` in a row at most; none of a queue of batches."""


@dataclass(frozen=True, slots=True)
class FileQueue:
    """A queue in files of 20-byte units, which are given in offset order."""

    files: Sequence[StoreFile]
    damage: DamageSink | None = None

    def batches(self) -> Iterator[pa.RecordBatch]:
        return read_queue(self.files, damage=self.damage)

    def summary(self, commitlog_min: int) -> QueueSummary:
        return summarize_queue(self.files, commitlog_min=commitlog_min, damage=self.damage)

    def ends(self, commitlog_min: int) -> tuple[int, int]:
        found = self.summary(commitlog_min)
        return found.min_queue_offset, found.max_queue_offset

    def unit(self, queue_offset: int) -> dict[str, int] | None:
        for file in self.files:
            place = queue_offset - (file.base_offset or 0) // CQ_UNIT.size
            if 0 <= place < file.size // CQ_UNIT.size:
                try:
                    unit = CQ_UNIT.unpack(read_at(file.path, place * CQ_UNIT.size, CQ_UNIT.size))
                except (StoreFormatError, OSError, ValueError):
                    return None
                return unit if unit["msg_size"] > 0 else None
        return None

    def pointer(self, queue_offset: int) -> Pointer | None:
        return _pointer(self.unit(queue_offset))

    def last_pointer(self) -> Pointer | None:
        for file in reversed(self.files):
            try:
                every = units(file)
            except StoreFormatError:
                continue
            view = every[: -(-data_end(file.path, every.nbytes) // CQ_UNIT.size)]
            written = view[view["msg_size"] >= SMALLEST_MESSAGE]
            if len(written):
                return Pointer(int(written[-1]["physical_offset"]), int(written[-1]["msg_size"]))
        return None

    def sample(self, most: int) -> Iterator[SampledUnit]:
        for file in self.files:
            try:
                yield from map(SampledUnit._make, units(file)[:most].tolist())
            except StoreFormatError:
                continue


@dataclass(frozen=True, slots=True)
class BatchQueue:
    """A queue in files of 46-byte units, one for each record: a message number alone leads to none of them."""

    files: Sequence[StoreFile]
    damage: DamageSink | None = None

    def batches(self) -> Iterator[pa.RecordBatch]:
        return read_batch_queue(self.files, damage=self.damage)

    def summary(self, commitlog_min: int) -> QueueSummary:
        return summarize_batch_queue(self.files, commitlog_min=commitlog_min, damage=self.damage)

    def ends(self, commitlog_min: int) -> tuple[int, int]:
        found = self.summary(commitlog_min)
        return found.min_queue_offset, found.max_queue_offset

    def unit(self, queue_offset: int) -> dict[str, int] | None:
        return None

    def pointer(self, queue_offset: int) -> Pointer | None:
        return None

    def last_pointer(self) -> Pointer | None:
        return None

    def sample(self, most: int) -> Iterator[SampledUnit]:
        yield from ()


@dataclass(frozen=True, slots=True)
class DatabaseQueue:
    """A queue in a database."""

    table: QueueTable
    key: QueueKey

    def batches(self) -> Iterator[pa.RecordBatch]:
        return units_to_batches(self.table, self.key)

    def summary(self, commitlog_min: int) -> QueueSummary:
        return summarize(self.table, self.key, commitlog_min)

    def ends(self, commitlog_min: int) -> tuple[int, int]:
        return queue_ends(self.table, self.key, commitlog_min)

    def unit(self, queue_offset: int) -> dict[str, int] | None:
        queue = self.table.limits[self.key]
        return self.table.unit_or_none(queue, queue_offset) if queue_offset <= queue.last_queue_offset else None

    def pointer(self, queue_offset: int) -> Pointer | None:
        return _pointer(self.unit(queue_offset))

    def last_pointer(self) -> Pointer | None:
        return self.pointer(self.table.limits[self.key].last_queue_offset)

    def sample(self, most: int) -> Iterator[SampledUnit]:
        for found in islice(self.table.units(self.table.limits[self.key]), 1):
            fields = (found[name][:most].tolist() for name in SampledUnit._fields)
            yield from map(SampledUnit, *fields)


def _pointer(unit: dict[str, int] | None) -> Pointer | None:
    return None if unit is None else Pointer(unit["physical_offset"], unit["msg_size"])
