"""Going along the index files in step with the keys of a log, so that entries in their place need no other look."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from parsers.evidence.mapped import release_pages
from parsers.index.layout import INDEX_ENTRY
from parsers.index.open import OpenIndex
from parsers.kernels.arrays import Longs, Mask
from recovery.scan.kernel import ScanBatch
from recovery.verify.settle.index_kernel import entry_from
from recovery.verify.settle.settle_kernel import ENTRY_NO, KEY, LEFT_FROM, ROW, SPANS_FOUND, KeyPlace, settle_keys

SPANS_AT_ONCE = 1 << 10
EntryPlace = tuple[int, int]
"""A file's number in the list and an entry's number in it, from 1."""


class FileEntries(NamedTuple):
    """One index file whose geometry is known: `entries` up to the last one written.

    The seconds of its entries count from `begin_ms`, or the first one's from `before_ms`, the end of the file before;
    where that is damaged, from `last_before_ms`, the time of the message of the last entry there.
    """

    file: OpenIndex
    entries: int
    begin_ms: int
    before_ms: int
    last_before_ms: int

    @property
    def name(self) -> str:
        return self.file.file.path.name

    def place(self) -> KeyPlace:
        end = self.file.header["end_physical_offset"]
        return KeyPlace(self.file.data, self.file.entry_at(0), self.entries, self.begin_ms, self.before_ms, end)


@dataclass(slots=True)
class Walked:
    """The entries from `start` to before `end` are settled but for those in `spans` (file, first, end entry)."""

    start: EntryPlace
    end: EntryPlace
    spans: list[tuple[int, int, int]] = field(default_factory=list)

    def join(self, behind: Walked, files: Sequence[FileEntries]) -> bool:
        """Take in the walk of the next part; False where both went over the same entries."""
        if behind.start < self.end:
            return False
        self.spans += [*between(self.end, behind.start, files), *behind.spans]
        self.end = behind.end
        return True


def between(start: EntryPlace, end: EntryPlace, files: Sequence[FileEntries]) -> Iterator[tuple[int, int, int]]:
    """The entries from one place to before another, file by file."""
    for number in range(start[0], min(end[0] + 1, len(files))):
        first = start[1] if number == start[0] else 1
        last = end[1] if number == end[0] else files[number].entries + 1
        if first < last:
            yield number, first, last


@dataclass(slots=True)
class KeyWalk:
    """One pass over the keys of a part of a log. It finds its place in the files by the first of them."""

    files: Sequence[FileEntries]
    _walked: Walked | None = None
    _file: int = 0
    _state: Longs = field(default_factory=lambda: np.zeros(5, np.int64))
    _spans: Longs = field(default_factory=lambda: np.empty((SPANS_AT_ONCE, 2), np.int64))

    def take(self, batch: ScanBatch) -> Mask:
        """Which keys of a run have no entry in their place."""
        left = np.ones(len(batch.keys), np.bool_)
        if not len(left):
            return left
        state = self._state
        state[ROW] = state[KEY] = 0
        if self._walked is None:
            with_keys = int(np.flatnonzero(np.diff(batch.records.first_key))[0])
            start = self._place_of(int(batch.records.physical_offset[with_keys]))
            self._walked = Walked(start, start)
            self._enter(*start)
        while self._file < len(self.files):
            place = self.files[self._file].place()
            first = int(state[ENTRY_NO])
            settle_keys(place, batch.records, batch.keys, state, left, self._spans)
            release_pages(place.data, place.entries_at + first * INDEX_ENTRY.size, self._at(place))
            self._keep_spans()
            if state[ENTRY_NO] > place.entries and state[LEFT_FROM] == 0:
                self._enter(self._file + 1, 1)
            elif state[ROW] == batch.rows:
                break
        return left

    def close(self) -> Walked | None:
        """What was walked over; None without any key."""
        if self._walked is None:
            return None
        if self._state[LEFT_FROM]:
            self._walked.spans.append((self._file, int(self._state[LEFT_FROM]), int(self._state[ENTRY_NO])))
        self._walked.end = self._file, int(self._state[ENTRY_NO])
        return self._walked

    def _at(self, place: KeyPlace) -> int:
        return place.entries_at + int(self._state[ENTRY_NO]) * INDEX_ENTRY.size

    def _place_of(self, physical_offset: int) -> EntryPlace:
        """The first entry that can be of the record there: in the last file that starts before it."""
        for number in range(len(self.files) - 1, -1, -1):
            place = self.files[number].place()
            entry = entry_from(place.data, place.entries_at, place.entries, physical_offset)
            if entry > 1:
                return (number, entry) if entry <= place.entries else (number + 1, 1)
        return 0, 1

    def _enter(self, file: int, entry: int) -> None:
        self._file = file
        self._state[ENTRY_NO], self._state[LEFT_FROM] = entry, 0

    def _keep_spans(self) -> None:
        if self._walked is not None:
            found = self._spans[: self._state[SPANS_FOUND]].tolist()
            self._walked.spans += [(self._file, first, end) for first, end in found]
        self._state[SPANS_FOUND] = 0
