"""The second pass over a log: the columns of those records that some rule has to look at, and of no others."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from parsers.commitlog.dledger_headers.layout import header_size
from parsers.damage.errors import StoreFormatError
from parsers.evidence.mapped import map_file, release_pages
from parsers.kernels.arrays import Bytes, Longs, Mask
from parsers.store.store_file import QueueKey, StoreFile
from recovery.rules.dispatch import DispatchRules
from recovery.scan.kernel import ScanBatch
from recovery.scan.log_runs import LogRun
from recovery.scan.queue_numbers import queue_keys, unpack_key
from recovery.scan.record_walk import judge_crcs, walk
from recovery.scan.scan_ahead import scanned_ahead
from recovery.scan.topic_table import TopicTable
from recovery.verify.settle.log_columns import ExpectedKeys, ExpectedUnits, LogColumns, MessageColumns, log_start
from recovery.verify.settle.outline import Outline, Run

Columns = tuple[npt.NDArray[Any], ...]
LONG, INT, SHORT, BYTE, BOOL = np.int64, np.int32, np.int16, np.int8, np.bool_
MESSAGE_TYPES = (LONG, LONG, INT, INT, LONG, INT, INT, LONG, LONG, BYTE)
UNIT_TYPES = (LONG, INT, INT, LONG, SHORT)
KEY_TYPES = (LONG, INT, LONG, BOOL)
NO_VERDICTS = np.empty(0, BYTE)


class Asked(NamedTuple):
    """A run that is read again, and where those of its records start that are asked for."""

    run: Run
    again: LogRun
    places: Longs


def gather(
    files: Sequence[StoreFile], outline: Outline, rules: DispatchRules, *, places: Longs, queues: Collection[QueueKey]
) -> LogColumns:
    """The records that start at `places`, physical offsets in rising order, or have units in any of `queues`.

    Only the runs that hold such records are read again, several at once.
    """
    topics, asked = TopicTable(rules), deque[Asked]()
    gathered = _Gathered(topics, frozenset(queues), _joined(outline.left_keys))
    for batch in scanned_ahead(_walked(outline.runs, places, queues, asked), rules, topics):
        gathered.take(batch, asked.popleft())
    return LogColumns(
        files=tuple(files),
        messages=MessageColumns._make(_columns(gathered.messages, MESSAGE_TYPES)),
        units=ExpectedUnits._make(_columns(gathered.units, UNIT_TYPES)),
        keys=ExpectedKeys._make(_columns(gathered.keys, KEY_TYPES)),
        topics=tuple(topics.names),
        gaps=tuple(outline.gaps),
        records=outline.records,
        first_ms=outline.first_ms,
        latest_ms=outline.latest_ms,
        end=outline.end if outline.records else log_start(files),
    )


def _walked(runs: Sequence[Run], places: Longs, queues: Collection[QueueKey], asked: deque[Asked]) -> Iterator[LogRun]:
    """The runs to be read again, each noted in `asked` before it is given."""
    for run in runs:
        base_offset = run.file.base_offset or 0
        first, end = np.searchsorted(places, (base_offset + run.file_pos, base_offset + run.end)).tolist()
        if first == end and not queues:
            continue
        try:
            data: Bytes = np.frombuffer(map_file(run.file.path), np.uint8)
        except StoreFormatError:  # it was there a moment ago
            continue
        positions = np.empty(run.records, np.int64)
        count, _ = walk(data, run.file_pos, base_offset, header_size(run.file), positions)
        if count:
            again = LogRun(run.file, data, positions[:count], run.end, NO_VERDICTS)
            asked.append(Asked(run, again, places[first:end]))
            yield again


@dataclass(slots=True)
class _Gathered:
    topics: TopicTable
    queues: frozenset[QueueKey]
    left_keys: Longs
    messages: list[Columns] = field(default_factory=list)
    units: list[Columns] = field(default_factory=list)
    keys: list[Columns] = field(default_factory=list)
    rows: int = 0

    def take(self, batch: ScanBatch, asked: Asked) -> None:
        """The records of a run that start at the places, or have units in one of the queues."""
        again = asked.again
        chosen = np.isin(batch.records.physical_offset, asked.places)
        if self.queues:
            chosen[batch.units.record[self._of_queues(batch)]] = True
        crc = np.empty(int(chosen.sum()), np.int8)
        judge_crcs(again.data, again.positions[chosen], crc)
        self._add(asked.run, batch, chosen, crc)
        release_pages(again.data, again.start, again.end)

    def _of_queues(self, batch: ScanBatch) -> Mask:
        """Which units are in one of the queues."""
        names, units = self.topics.names, batch.units
        met, number = np.unique(queue_keys(units.topic, units.queue_id), return_inverse=True)
        unpacked = map(unpack_key, met.tolist())
        asked = np.array([(names[topic], queue_id) in self.queues for topic, queue_id in unpacked], np.bool_)
        found: Mask = asked[number] & (units.message_count == 0)
        return found

    def _add(self, run: Run, batch: ScanBatch, chosen: Mask, crc: npt.NDArray[np.int8]) -> None:
        records, units = batch.records, batch.units
        new_row = np.cumsum(chosen) - 1 + self.rows
        names = MessageColumns._fields[1:-1]
        rows = run.row + np.flatnonzero(chosen)
        self.messages.append((rows, *(getattr(records, name)[chosen] for name in names), crc))
        own = chosen[units.record]
        self.units.append((new_row[units.record[own]], *(column[own] for column in units[1:])))
        key_counts = np.diff(records.first_key)
        record = np.repeat(np.arange(batch.rows), key_counts)
        own = chosen[record]
        owner = run.owners + np.cumsum(key_counts > 0) - 1
        settled = ~np.isin(run.keys + np.flatnonzero(own), self.left_keys)
        self.keys.append((new_row[record[own]], batch.keys[own], owner[record[own]], settled))
        self.rows += len(rows)


def _joined(arrays: Sequence[Longs]) -> Longs:
    return np.concatenate([np.empty(0, np.int64), *arrays])


def _columns(batches: list[Columns], types: tuple[type[np.generic], ...]) -> Iterator[npt.NDArray[Any]]:
    if not batches:
        yield from (np.empty(0, kind) for kind in types)
    else:
        yield from map(np.concatenate, zip(*batches, strict=True))
