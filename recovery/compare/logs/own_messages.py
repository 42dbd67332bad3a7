"""What a log holds in some ranges of bytes: how many messages, of which queues, until where."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from parsers.commitlog.dledger_headers.layout import header_size
from parsers.store.store_file import QueueKey, StoreFile
from recovery.rules.dispatch import DispatchRules
from recovery.scan.kernel import ScanBatch
from recovery.scan.log_runs import LogGap, LogRun, log_runs
from recovery.scan.queue_numbers import queue_keys, unpack_key
from recovery.scan.scanner import LogScanner


class Range(NamedTuple):
    """Bytes [begin, end) of the whole log."""

    begin: int
    end: int


@dataclass(slots=True)
class QueueShare:
    """Messages of one queue: how many, the lowest and the highest queue offset among them."""

    messages: int
    first_queue_offset: int
    last_queue_offset: int


@dataclass(slots=True)
class OwnMessages:
    """The records of some ranges of one log.

    Attributes:
        records: all of them; `messages`: those that got a place in a queue.
        queues: messages by topic and queue, those of light and batch queues among them.
        begin, end: the first byte of the first record and the byte after the last one, or after a blank that ends
            its file; None without any.
        first_ms, last_ms: store timestamps of the first and the last record.
        damaged: ranges that should be records and are not provably so.
        stale: ranges with records of another place or an earlier life of a file, or with what is left of one.
    """

    records: int = 0
    messages: int = 0
    queues: dict[QueueKey, QueueShare] = field(default_factory=dict)
    begin: int | None = None
    end: int | None = None
    first_ms: int | None = None
    last_ms: int | None = None
    damaged: list[Range] = field(default_factory=list)
    stale: list[Range] = field(default_factory=list)


def own_messages(files: Sequence[StoreFile], ranges: Sequence[Range], rules: DispatchRules) -> OwnMessages:
    """The messages that begin in the ranges, which are in order and apart. Files with none of them are not read."""
    found, scanner = OwnMessages(), LogScanner(rules)
    for file in files:
        here = _overlapping(ranges, file.base_offset or 0, (file.base_offset or 0) + file.size)
        gaps: list[LogGap] = []
        for run in log_runs([file], gaps.append) if here else ():
            _note(found, gaps, here)
            for part in _parts(run, here):
                _count(found, part, scanner)
        _note(found, gaps, here)
    return found


def _overlapping(ranges: Sequence[Range], begin: int, end: int) -> Sequence[Range]:
    """Those of some ranges in order that have a byte in [begin, end)."""
    first = bisect_right(ranges, begin, key=lambda each: each.end)
    return ranges[first : bisect_left(ranges, end, key=lambda each: each.begin)]


def _parts(run: LogRun, ranges: Sequence[Range]) -> Iterator[LogRun]:
    """The records of a run that begin in one of the ranges."""
    starts = run.positions - header_size(run.file) + run.base_offset
    for each in _overlapping(ranges, int(starts[0]), int(starts[-1]) + 1):
        first, last = (int(row) for row in np.searchsorted(starts, each))
        if first < last:
            end = run.end if last == len(starts) else int(starts[last]) - run.base_offset
            yield replace(run, positions=run.positions[first:last], end=end)


def _note(found: OwnMessages, gaps: list[LogGap], ranges: Sequence[Range]) -> None:
    """What is no record; a blank is the end of the records before it."""
    for gap in gaps:
        begin, end = gap.physical_offset, gap.physical_offset + gap.length
        for each in _overlapping(ranges, begin, end):
            part = Range(max(begin, each.begin), min(end, each.end))
            if part.begin >= part.end:
                continue
            if gap.kind == "damage":
                found.damaged.append(part)
            elif gap.kind == "stale":
                found.stale.append(part)
            elif gap.kind == "blank" and found.end in (None, begin):
                found.begin, found.end = found.begin if found.begin is not None else begin, end
    gaps.clear()


def _count(found: OwnMessages, run: LogRun, scanner: LogScanner) -> None:
    batch = scanner.scan(run.data, run.positions)
    times = batch.records.store_timestamp_ms
    found.records += batch.rows
    found.begin = run.base_offset + run.start if found.begin is None else found.begin
    found.end = run.base_offset + run.end
    found.first_ms = int(times[0]) if found.first_ms is None else found.first_ms
    found.last_ms = int(times[-1])
    found.messages += len(np.unique(batch.units.record))
    _share(found.queues, batch, scanner)


def _share(queues: dict[QueueKey, QueueShare], batch: ScanBatch, scanner: LogScanner) -> None:
    units = batch.units
    distinct, inverse = np.unique(queue_keys(units.topic, units.queue_id), return_inverse=True)
    counts = np.maximum(units.message_count, 1).astype(np.int64)
    totals = np.bincount(inverse, weights=counts, minlength=len(distinct)).astype(np.int64)
    lowest = np.full(len(distinct), np.iinfo(np.int64).max)
    highest = np.full(len(distinct), np.iinfo(np.int64).min)
    np.minimum.at(lowest, inverse, units.queue_offset)
    np.maximum.at(highest, inverse, units.queue_offset + counts - 1)
    names = scanner.topics.names
    for row, (topic, queue_id) in enumerate(map(unpack_key, distinct.tolist())):
        queue = names[topic], queue_id
        total, low, high = int(totals[row]), int(lowest[row]), int(highest[row])
        share = queues.setdefault(queue, QueueShare(0, low, high))
        share.messages += total
        share.first_queue_offset = min(share.first_queue_offset, low)
        share.last_queue_offset = max(share.last_queue_offset, high)
