"""How the messages of each queue are numbered along the log: a stretch as long as each number follows the one before.

The queue offsets of a queue rise by one along the log. Where they fall, its topic was deleted and created again, the
queue was lost, or a record is damaged; where they jump, the log lost messages, and a new life may begin among those.
`recovery.lives.decision` decides. Memory: 80 bytes for each stretch, and there is one for each queue of a sound log
without deletions.
Source: CommitLog#topicQueueTable, QueueOffsetOperator#removeTopicQueue @4.9.7, 5.3.3.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from parsers.kernels.arrays import LongRows, Longs
from parsers.kernels.kernel import kernel
from parsers.store.store_file import QueueKey, StoreFile
from recovery.rules.dispatch import DispatchRules
from recovery.scan.kernel import RecordColumns, ScanBatch, UnitColumns
from recovery.scan.log_runs import log_runs
from recovery.scan.queue_numbers import fill_slots, new_slots, queue_number, unpack_key
from recovery.scan.scanner import LogScanner
from recovery.scan.topic_table import TopicTable

QUEUE, FIRST, LAST, MESSAGES, FIRST_AT, LAST_AT, END_AT, EARLIEST, LATEST, SIZE = range(10)
"""Columns of a stretch: the number of its queue, its first and last queue offset, how many messages, where its first
and last record start and where the last one ends, the earliest and latest store time (epoch ms), and the bytes of its
records."""
FIELDS = 10
UNKNOWN_MS = 1 << 62
"""The store time of a stretch whose messages the log lost: later than any that it has."""
FEW_QUEUES = 1 << 10
MOST_JUMPS = 1 << 16
"""Stretches of a log after which a jump starts no other one: a log that lost so much shows no lives."""

Numbering = dict[QueueKey, Longs]
"""The stretches of each queue of single messages, in log order: rows of the columns above."""


class _Open(NamedTuple):
    """Queues met (`slots`, `key` and `met` as in `QueueState`) and the row of each one's last stretch."""

    slots: Longs
    key: Longs
    met: Longs
    current: Longs


def _room(capacity: int) -> _Open:
    longs = np.full(capacity, -1, np.int64)
    return _Open(new_slots(capacity), np.zeros(capacity, np.int64), np.zeros(1, np.int64), longs)


class NumberingNotes:
    """Takes batches of a scan in log order; `topics` is the scanner's table."""

    def __init__(self, topics: TopicTable) -> None:
        self._topics, self._open = topics, _room(FEW_QUEUES)
        self._rows, self._used = np.empty((FEW_QUEUES, FIELDS), np.int64), 0

    def take(self, batch: ScanBatch) -> None:
        row, rows = 0, len(batch.units.record)
        while row < rows:
            row, self._used = note_stretches(self._open, batch.records, batch.units, row, self._rows, self._used)
            if row < rows:
                self._grow()

    def _grow(self) -> None:
        if self._used == len(self._rows):
            self._rows = np.concatenate((self._rows, np.empty_like(self._rows)))
        met = int(self._open.met[0])
        if met == len(self._open.key):
            grown = _room(2 * met)
            grown.key[:met], grown.current[:met], grown.met[0] = self._open.key, self._open.current, met
            fill_slots(grown.slots, grown.key, met)
            self._open = grown

    def close(self) -> Numbering:
        """The stretches of every queue met."""
        rows = self._rows[: self._used]
        rows = rows[np.argsort(rows[:, QUEUE], kind="stable")]
        met, starts = np.unique(rows[:, QUEUE], return_index=True)
        bounds = pairwise((*starts.tolist(), len(rows)))
        return {self._key(number): _mended(rows[slice(*of)]) for number, of in zip(met.tolist(), bounds, strict=True)}

    def _key(self, number: int) -> QueueKey:
        topic, queue_id = unpack_key(int(self._open.key[number]))
        return self._topics.names[topic], queue_id


@kernel
def note_stretches(
    queues: _Open, records: RecordColumns, units: UnitColumns, row: int, stretches: LongRows, used: int
) -> tuple[int, int]:
    """Note the units from `row` on: (row, stretches used), the row before the end where room is lacking."""
    slots, keys, met, current = queues
    while row < len(units.record):
        if units.message_count[row] > 0:
            row += 1
            continue
        if met[0] == len(keys) or used == len(stretches):
            return row, used
        number = queue_number(slots, keys, met, units.topic[row], units.queue_id[row])
        record, queue_offset = units.record[row], units.queue_offset[row]
        at, time_ms = current[number], records.store_timestamp_ms[record]
        last = stretches[at, LAST] if at >= 0 else queue_offset
        if queue_offset <= last or (queue_offset > last + 1 and used < MOST_JUMPS):
            at = used
            used += 1
            current[number] = at
            stretches[at, QUEUE] = number
            stretches[at, FIRST] = queue_offset
            stretches[at, MESSAGES] = stretches[at, SIZE] = 0
            stretches[at, FIRST_AT] = records.physical_offset[record]
            stretches[at, EARLIEST] = stretches[at, LATEST] = time_ms
        stretches[at, LAST] = queue_offset
        stretches[at, MESSAGES] += 1
        stretches[at, SIZE] += records.total_size[record]
        stretches[at, LAST_AT] = records.physical_offset[record]
        stretches[at, END_AT] = records.physical_offset[record] + records.total_size[record]
        stretches[at, EARLIEST] = min(stretches[at, EARLIEST], time_ms)
        stretches[at, LATEST] = max(stretches[at, LATEST], time_ms)
        row += 1
    return row, used


def joined_numbering(parts: Iterable[Numbering]) -> Numbering:
    """The numbering of a log whose parts, in log order, were read apart."""
    whole: Numbering = {}
    for part in parts:
        for key, behind in part.items():
            before = whole.get(key)
            whole[key] = behind if before is None else _joined(before, behind)
    return whole


def _joined(before: Longs, behind: Longs) -> Longs:
    """The stretches of one queue; the first one after goes on with the last one before where its numbers do."""
    if behind[0, FIRST] != before[-1, LAST] + 1:
        return _mended(np.concatenate((before, behind)))
    stretches = np.concatenate((before, behind[1:]))
    take_in(stretches[len(before) - 1], behind[0])
    return stretches


def _mended(stretches: Longs) -> Longs:
    """The stretches of one queue, where a record with a wrong number parts none: one alone between two stretches that
    leave out the one number that would be its own."""
    if len(stretches) < 3:
        return stretches
    alone = stretches[1:-1, MESSAGES] == 1
    middle = 1 + np.flatnonzero(alone & (stretches[2:, FIRST] == stretches[:-2, LAST] + 2))
    middle = middle[np.diff(middle, prepend=-1) > 1]
    for at in middle[::-1].tolist():
        one = together(together(stretches[at - 1], stretches[at]), stretches[at + 1])
        one[LAST] = stretches[at + 1, LAST]
        stretches = np.concatenate((stretches[: at - 1], [one], stretches[at + 2 :]))
    return stretches


def together(before: Longs, behind: Longs) -> Longs:
    """Two stretches of a queue as one, the first queue offset and place being those of the one before."""
    one = before.copy()
    take_in(one, behind)
    return one


@kernel
def take_in(one: Longs, behind: Longs) -> None:
    """Add the stretch behind it to a stretch of a queue, whose first queue offset and place stay."""
    one[LAST] = max(one[LAST], behind[LAST])
    one[LAST_AT] = behind[LAST_AT]
    one[END_AT] = behind[END_AT]
    one[MESSAGES] += behind[MESSAGES]
    one[SIZE] += behind[SIZE]
    one[EARLIEST] = min(one[EARLIEST], behind[EARLIEST])
    one[LATEST] = max(one[LATEST], behind[LATEST])


def read_numbering(files: Sequence[StoreFile], rules: DispatchRules) -> Numbering:
    """The numbering of a log, given in offset order, from one pass over it."""
    scanner = LogScanner(rules)
    notes = NumberingNotes(scanner.topics)
    for run in log_runs(files, lambda gap: None):
        notes.take(scanner.scan(run.data, run.positions))
    return notes.close()
