"""The first pass over parts of a log: each record beside the units and entries of its own, while it is at hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from parsers.kernels.arrays import Codes, Ints, Longs, Mask
from parsers.store.store_file import QueueKey
from parsers.values.java import LONG_MIN
from recovery.lives.numbering import NumberingNotes
from recovery.rules.dispatch import DispatchRules
from recovery.scan.kernel import RecordColumns, ScanBatch
from recovery.scan.log_runs import LogGap, LogRun, runs_between
from recovery.scan.queue_numbers import unpack_key
from recovery.scan.scanner import LogScanner
from recovery.verify.settle.key_walk import KeyWalk
from recovery.verify.settle.newer_records import newer_records
from recovery.verify.settle.outline import FIRST, LAST, Edge, Files, Outline, Part, QueueTrace, Run
from recovery.verify.settle.queue_disk import QueueWindows
from recovery.verify.settle.settle_kernel import (
    AROUND,
    ASK_WINDOW,
    DONE,
    FULL,
    NONE,
    Unsettled,
    more_cursors,
    new_cursors,
    note_records,
    settle_units,
)

FEW_QUEUES = 1 << 10


class Outlines:
    """Outlines of parts of one log, for as many threads as ask at once.

    What a thread has opened and met for one part it has at hand for its next one.
    """

    def __init__(self, rules: DispatchRules, files: Files) -> None:
        self._rules, self._files, self._free = rules, files, list[_Pass]()

    def of(self, parts: Sequence[Part]) -> Outline:
        """The first pass over parts, which are given in log order and follow one another."""
        try:
            one_pass = self._free.pop()
        except IndexError:
            one_pass = _Pass(self._rules, self._files)
        one_pass.begin()
        for part in parts:
            for run in runs_between(part.file, part.start, part.end, one_pass.note_gap, crc=True):
                one_pass.take(run)
        found = one_pass.end()
        self._free.append(one_pass)
        return found


class _Pass:
    """One part of a log after another, run by run: what a run brings into the cache is compared before the next one."""

    _found: Outline
    _numbering: NumberingNotes
    _keys: KeyWalk | None
    _met_topics: Mask
    _spans: list[Longs]
    _left: list[tuple[Ints, Longs]]

    def __init__(self, rules: DispatchRules, files: Files) -> None:
        self._version, self._scanner, self._files = rules.version, LogScanner(rules), files
        self._windows, self._cursors = QueueWindows(files.queues, files.settles), new_cursors(FEW_QUEUES)

    def begin(self) -> None:
        """Nothing of the part that comes is settled yet; topics, queues and their windows stay as they are."""
        files, cursors = self._files, self._cursors
        self._found, self._numbering = Outline(), NumberingNotes(self._scanner.topics)
        self._keys = KeyWalk(files.index if files.settles else ()) if files.compares_index else None
        self._met_topics = np.zeros(len(self._scanner.topics.stored), np.bool_)
        self._spans, self._left = [], []
        cursors.first[:], cursors.following[:], cursors.most[:] = NONE, NONE, NONE

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
        out = Unsettled(queue, left, self._met_topics, spans)
        while why != DONE:
            row, spans_found, why = settle_units(self._cursors, batch.records, units, out, row, spans_found)
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
        return self._scanner.topics.names[topic], queue_id

    def _settle_keys(self, batch: ScanBatch, walk: KeyWalk) -> None:
        found, first_key = self._found, batch.records.first_key
        left = np.flatnonzero(walk.take(batch))
        if len(left):
            found.left_keys.append(left + found.keys)
            owners = np.searchsorted(first_key, left, side="right") - 1
            found.noted.append(np.unique(batch.records.physical_offset[owners]))
        found.keys += len(batch.keys)
        found.owners += int(np.count_nonzero(np.diff(first_key)))

    def end(self) -> Outline:
        """What was found in the part."""
        found, cursors = self._found, self._cursors
        names = self._scanner.topics.names
        found.topics = {names[code] for code in np.flatnonzero(self._met_topics).tolist()}
        met = int(cursors.met[0])
        columns = (column[:met].tolist() for column in (cursors.first, cursors.following, cursors.most))
        traces = [QueueTrace(*numbers) for numbers in zip(*columns, strict=True)]
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
