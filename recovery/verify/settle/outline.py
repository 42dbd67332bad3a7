"""The first pass over a log: everything settled that is in its place, everything else named for the rules.

A part of a log gives an `Outline`; those of neighbouring parts, read anywhere and by anybody, are joined in log order.
What is kept is bounded by what is out of place, and by a few numbers for each queue and each run of records.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from parsers.index.open import OpenIndex
from parsers.store.store_file import QueueKey, StoreFile
from parsers.values.java import LONG_MIN, decode_utf8
from recovery.lives.numbering import Numbering, NumberingNotes, joined_numbering
from recovery.rules.dispatch import DispatchRules
from recovery.scan.intervals import Longs
from recovery.scan.kernel import Ints, RecordColumns
from recovery.scan.log_runs import LogGap, LogRun, runs_between
from recovery.scan.queue_numbers import unpack_key
from recovery.scan.record_walk import Codes
from recovery.scan.scanner import LogScanner, ScanBatch
from recovery.verify.settle.database_spool import Spool
from recovery.verify.settle.key_walk import FileEntries, KeyWalk, Walked
from recovery.verify.settle.newer_records import NewerRecords, newer_records
from recovery.verify.settle.queue_disk import QueueOnDisk, QueueWindows
from recovery.verify.settle.settle_kernel import (
    AROUND,
    ASK_WINDOW,
    DONE,
    FULL,
    NONE,
    more_cursors,
    new_cursors,
    note_records,
    settle_units,
)

FEW_QUEUES = 1 << 10
RECORDS_AT_ONCE = 1 << 13
"""Few enough to stay in a cache while they are compared."""


class Part(NamedTuple):
    """Bytes [start, end) of one file of a log."""

    file: StoreFile
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Files:
    """What the log is compared with. With `settles` False everything is left for the rules.

    `spool`: the database that keeps the queues, None where files do; `unread`: why it cannot be, and nothing else can
    be compared with the log. `opened`: all index files; `index`: those of them that are understood.
    """

    queues: Mapping[QueueKey, QueueOnDisk]
    opened: Sequence[OpenIndex]
    index: Sequence[FileEntries]
    compares_index: bool
    settles: bool
    spool: Spool | None = None
    unread: str | None = None

    @property
    def compares_queues(self) -> bool:
        return self.unread is None


class Run(NamedTuple):
    """Records one after another, to be found again: bytes of a file, how many, and how many are before them."""

    file: StoreFile
    file_pos: int
    end: int
    records: int
    row: int
    keys: int
    owners: int


@dataclass(slots=True)
class QueueTrace:
    """One queue of the log: the queue offsets from `first` to before `following` are settled but for those in `spans`.

    `first` is NONE where nothing is settled, `most` the highest queue offset that dispatch makes (NONE: of none known).
    `left`: physical offsets of messages that are not settled.
    """

    first: int = NONE
    following: int = NONE
    most: int = NONE
    spans: list[tuple[int, int]] = field(default_factory=list)
    left: list[Longs] = field(default_factory=list)

    def join(self, behind: QueueTrace) -> bool:
        """Take in the same queue of the next part; False where both settled the same queue offsets."""
        self.most, self.left = max(self.most, behind.most), self.left + behind.left
        if behind.first == NONE:
            return True
        if self.first == NONE:
            self.first, self.following, self.spans = behind.first, behind.following, behind.spans
            return True
        if behind.first < self.following:
            return False
        if behind.first > self.following:
            self.spans.append((self.following, behind.first))
        self.spans += behind.spans
        self.following = behind.following
        return True


class Edge(NamedTuple):
    """The first or last two records of a part: their places and store times."""

    physical_offset: Longs
    store_timestamp_ms: Longs

    def join(self, behind: Edge, kept: slice) -> Edge:
        return Edge(*(np.concatenate(pair)[kept] for pair in zip(self, behind, strict=True)))


NO_EDGE = Edge(np.empty(0, np.int64), np.empty(0, np.int64))
FIRST, LAST = slice(AROUND), slice(-AROUND, None)


@dataclass(slots=True)
class Outline:
    """What the first pass over a part of a log found; counts are of the part alone.

    `covered` counts bytes of records and gaps. `noted`: physical offsets of records that need a look for any reason;
    `wanted_before` and `wanted_behind`: how many of the records of the neighbouring parts do. `topics` have units.
    `numbering`: where the numbers of each queue start anew. `newer`: records whose form the version does not know.
    """

    runs: list[Run] = field(default_factory=list)
    gaps: list[LogGap] = field(default_factory=list)
    records: int = 0
    keys: int = 0
    owners: int = 0
    covered: int = 0
    first_ms: int = 0
    latest_ms: int = 0
    end: int = 0
    noted: list[Longs] = field(default_factory=list)
    head: Edge = NO_EDGE
    tail: Edge = NO_EDGE
    wanted_before: int = 0
    wanted_behind: int = 0
    topics: set[str] = field(default_factory=set)
    queues: dict[QueueKey, QueueTrace] = field(default_factory=dict)
    numbering: Numbering = field(default_factory=dict)
    left_keys: list[Longs] = field(default_factory=list)
    walked: Walked | None = None
    newer: list[NewerRecords] = field(default_factory=list)


def outline(parts: Sequence[Part], rules: DispatchRules, files: Files) -> Outline:
    """The first pass over parts of a log, which are given in log order and follow one another."""
    one_pass = _Pass(rules, files)
    for part in parts:
        for run in runs_between(part.file, part.start, part.end, one_pass.note_gap, most=RECORDS_AT_ONCE, crc=True):
            one_pass.take(run)
    return one_pass.close()


class _Pass:
    """One part of a log, run by run: what a run brings into the cache is compared before the next one comes."""

    def __init__(self, rules: DispatchRules, files: Files) -> None:
        self._version = rules.version
        self._scanner, self._files, self._found = LogScanner(rules), files, Outline()
        self._numbering = NumberingNotes(self._scanner.topics)
        self._windows, self._cursors = QueueWindows(files.queues, files.settles), new_cursors(FEW_QUEUES)
        self._keys = KeyWalk(files.index if files.settles else ()) if files.compares_index else None
        self._met_topics = np.zeros(0, np.bool_)
        self._spans: list[Longs] = []
        self._left: list[tuple[Ints, Longs]] = []

    def note_gap(self, gap: LogGap) -> None:
        self._found.gaps.append(gap)
        self._found.covered += gap.length

    def take(self, run: LogRun) -> None:
        batch, found = self._scanner.scan(run.data, run.positions), self._found
        found.runs.append(Run(run.file, run.start, run.end, batch.rows, found.records, found.keys, found.owners))
        self._note(batch.records, run.crc)
        found.newer += newer_records(run, batch.records, self._version)
        self._numbering.take(batch)
        self._settle_units(batch)
        if self._keys is not None:
            self._settle_keys(batch, self._keys)
        found.records += batch.rows
        found.covered += run.end - run.start
        found.end = run.base_offset + run.end

    def _note(self, records: RecordColumns, crc: Codes) -> None:
        found, places, times = self._found, records.physical_offset, records.store_timestamp_ms
        before_ms = int(found.tail.store_timestamp_ms[-1]) if found.records else LONG_MIN
        noted = np.empty(len(times), np.bool_)
        before, found.wanted_behind, latest_ms = note_records(records, crc, before_ms, found.wanted_behind, noted)
        known = len(found.tail.physical_offset)
        if before:
            found.noted.append(found.tail.physical_offset[-before:])
            found.wanted_before = max(found.wanted_before, before - known)
        if noted.any():
            found.noted.append(places[noted])
        found.first_ms = found.first_ms if found.records else int(times[0])
        found.latest_ms = max(found.latest_ms, latest_ms) if found.records else latest_ms
        if known < AROUND:
            found.head = found.head.join(Edge(places, times), FIRST)
        found.tail = found.tail.join(Edge(places[LAST], times[LAST]), LAST)

    def _settle_units(self, batch: ScanBatch) -> None:
        units, met = batch.units, len(self._scanner.topics.stored)
        rows, row, spans_found, why = len(units.record), 0, 0, FULL
        queue, left, spans = np.empty(rows, np.int32), np.empty(rows, np.bool_), np.empty((rows, 3), np.int64)
        if met > len(self._met_topics):
            self._met_topics = np.concatenate((self._met_topics, np.zeros(met, np.bool_)))
        while why != DONE:
            row, spans_found, why = settle_units(
                self._cursors, batch.records, units, row, queue, left, self._met_topics, spans, spans_found
            )
            if why == FULL:
                self._cursors = more_cursors(self._cursors)
            elif why == ASK_WINDOW:
                number = int(queue[row])
                self._windows.move(self._cursors, number, self._key(number), int(units.queue_offset[row]))
        if spans_found:
            self._spans.append(spans[:spans_found].copy())
        left_rows = np.flatnonzero(left)
        self._windows.count(self._cursors, rows - len(left_rows))
        if len(left_rows) and self._files.compares_queues:
            places, numbers = batch.records.physical_offset[units.record[left_rows]], queue[left_rows]
            self._left.append((numbers, places))
            self._found.noted.append(places[numbers < 0])

    def _key(self, number: int) -> QueueKey:
        topic, queue_id = unpack_key(int(self._cursors.key[number]))
        return decode_utf8(self._scanner.topics.stored[topic]), queue_id

    def _settle_keys(self, batch: ScanBatch, walk: KeyWalk) -> None:
        found, first_key = self._found, batch.records.first_key
        left = np.flatnonzero(walk.take(batch))
        if len(left):
            found.left_keys.append(left + found.keys)
            owners = np.searchsorted(first_key, left, side="right") - 1
            found.noted.append(np.unique(batch.records.physical_offset[owners]))
        found.keys += len(batch.keys)
        found.owners += int(np.count_nonzero(np.diff(first_key)))

    def close(self) -> Outline:
        found, cursors = self._found, self._cursors
        names = self._scanner.topics.names()
        found.topics = {names[code] for code in np.flatnonzero(self._met_topics).tolist()}
        traces = [
            QueueTrace(*numbers)
            for numbers in zip(cursors.first.tolist(), cursors.following.tolist(), cursors.most.tolist(), strict=True)
        ][: int(cursors.met[0])]
        for number, first, end in np.concatenate([np.empty((0, 3), np.int64), *self._spans]).tolist():
            traces[number].spans.append((first, end))
        for number, places in _by_queue(self._left):
            traces[number].left.append(places)
        found.queues = {self._key(number): trace for number, trace in enumerate(traces)}
        found.numbering = self._numbering.close()
        found.walked = None if self._keys is None else self._keys.close()
        return found


def _by_queue(left: Sequence[tuple[Ints, Longs]]) -> Iterator[tuple[int, Longs]]:
    """Physical offsets of messages of each classic queue that has some, in log order."""
    if left:
        numbers, places = (np.concatenate(column) for column in zip(*left, strict=True))
        order = np.argsort(numbers, kind="stable")
        met, starts = np.unique(numbers[order], return_index=True)
        for number, group in zip(met.tolist(), np.split(places[order], starts[1:]), strict=True):
            if number >= 0:
                yield number, group


def join(outlines: Sequence[Outline], files: Files) -> Outline | None:
    """The outline of all parts together, given in log order; None where they contradict each other."""
    whole = outlines[0]
    return whole if all(_join(whole, behind, files) for behind in outlines[1:]) else None


def _join(whole: Outline, behind: Outline, files: Files) -> bool:
    _join_edges(whole, behind)
    whole.runs += [
        run._replace(row=run.row + whole.records, keys=run.keys + whole.keys, owners=run.owners + whole.owners)
        for run in behind.runs
    ]
    whole.gaps += behind.gaps
    whole.newer += behind.newer
    whole.noted += behind.noted
    whole.left_keys += [numbers + whole.keys for numbers in behind.left_keys]
    whole.topics |= behind.topics
    whole.numbering = joined_numbering((whole.numbering, behind.numbering))
    if behind.records:
        whole.first_ms = whole.first_ms if whole.records else behind.first_ms
        whole.latest_ms = max(whole.latest_ms, behind.latest_ms) if whole.records else behind.latest_ms
        whole.end = behind.end
    whole.records, whole.keys = whole.records + behind.records, whole.keys + behind.keys
    whole.owners, whole.covered = whole.owners + behind.owners, whole.covered + behind.covered
    joined = [whole.queues.setdefault(key, QueueTrace()).join(trace) for key, trace in behind.queues.items()]
    if behind.walked is None:
        return all(joined)
    if whole.walked is None:
        whole.walked = behind.walked
        return all(joined)
    return whole.walked.join(behind.walked, files.index) and all(joined)


def _join_edges(whole: Outline, behind: Outline) -> None:
    """Records on both sides of the cut that tell who is out of the order of store times."""
    if not behind.records:
        return
    wanted = whole.wanted_behind - behind.records
    if whole.records:
        falls = whole.tail.store_timestamp_ms[-1] > behind.head.store_timestamp_ms[0]
        if falls or whole.wanted_behind or behind.wanted_before:
            whole.noted += [whole.tail.physical_offset, behind.head.physical_offset]
        wanted = max(wanted, AROUND - behind.records if falls else 0)
    else:
        whole.wanted_before = behind.wanted_before
    whole.wanted_behind = max(wanted, behind.wanted_behind)
    whole.head = whole.head.join(behind.head, FIRST)
    whole.tail = whole.tail.join(behind.tail, LAST)
