"""One log held against another, record by record of the first: stretches of bytes by what the other has in their place.

Bytes are matched by their physical offset, so the files of the two logs may be of different sizes.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from parsers.commitlog.compiled.resync import written_from
from parsers.commitlog.dledger_headers.layout import header_size
from parsers.commitlog.files.region import RegionKind
from parsers.damage.errors import DamageSink, StoreFormatError, report, unheard
from parsers.evidence.extents import data_end
from parsers.evidence.mapped import map_file, release_pages, require_whole
from parsers.kernels.arrays import Bytes, Codes
from parsers.store.store_file import StoreFile
from recovery.compare.logs import kernel
from recovery.compare.logs.kernel import first_difference, judge_records
from recovery.scan.log_runs import LogGap, LogRun, log_runs

WINDOW_BYTES = 32 << 20
BLANK_HEAD = 8
MOST_STRETCHES = 1 << 16
"""The most stretches that are kept apart; where two logs differ in more places, the rest is one stretch of other
bytes."""


class Meets(StrEnum):
    """What the other log has in the place of a stretch."""

    EQUAL = "equal"
    OTHER = "other_record"
    OTHER_SIZE = "record_of_another_size"
    UNWRITTEN = "unwritten"
    CUT = "cut_inside_record"
    NO_RECORD = "no_record"
    ABSENT = "no_file"


BY_VERDICT = {
    kernel.EQUAL: Meets.EQUAL,
    kernel.OTHER: Meets.OTHER,
    kernel.OTHER_SIZE: Meets.OTHER_SIZE,
    kernel.UNWRITTEN: Meets.UNWRITTEN,
    kernel.CUT: Meets.CUT,
    kernel.NO_RECORD: Meets.NO_RECORD,
}
ABSENT = 100


@dataclass(frozen=True, slots=True)
class Stretch:
    """Bytes [begin, end) of the whole log that are of one kind in the first log and meet one kind in the other."""

    kind: RegionKind
    meets: Meets
    begin: int
    end: int
    records: int = 0


class Piece(NamedTuple):
    """A part of a range and the file that holds it: its bytes and its first physical offset; None where none does."""

    begin: int
    end: int
    data: Bytes | None
    base_offset: int
    written: int
    """Position in the file after which every byte is zero."""


@dataclass(slots=True)
class LogBytes:
    """The bytes of a log by their physical offset. A file that cannot be opened is as good as not there."""

    files: Sequence[StoreFile]
    damage: DamageSink = unheard
    _bases: list[int] = field(default_factory=list)
    _data: list[Bytes] = field(default_factory=list)
    _written: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        for file in self.files:
            try:
                data = np.frombuffer(map_file(file.path), np.uint8)
            except StoreFormatError as error:
                report(error.in_file(file.path), self.damage)
                continue
            if len(data):
                self._bases.append(file.base_offset or 0)
                self._data.append(data)
                self._written.append(data_end(file.path, len(data)))

    def pieces(self, begin: int, end: int) -> Iterator[Piece]:
        """The range, cut where files begin and end. Raises UnreadableFile where a file became shorter."""
        while begin < end:
            number = bisect_right(self._bases, begin) - 1
            following = self._bases[number + 1] if number + 1 < len(self._bases) else end
            if number >= 0 and begin - self._bases[number] < len(self._data[number]):
                data, base = self._data[number], self._bases[number]
                require_whole(data)
                stop = min(end, base + len(data), following)
                yield Piece(begin, stop, data, base, self._written[number])
                release_pages(data, begin - base, stop - base)
            else:
                stop = min(end, following)
                yield Piece(begin, stop, None, 0, 0)
            begin = stop

    def bytes_of(self, begin: int, end: int) -> bytes | None:
        """The bytes of a range, which is small; None where a file of it is not there."""
        parts = []
        for piece in self.pieces(begin, end):
            if piece.data is None:
                return None
            parts.append(piece.data[piece.begin - piece.base_offset : piece.end - piece.base_offset].tobytes())
        return b"".join(parts)


def stretches(left: Sequence[StoreFile], right: LogBytes) -> list[Stretch]:
    """The whole left log as stretches, in order, each as long as it can be.

    Raises UnreadableFile where a file of the right log becomes shorter meanwhile.
    """
    found: list[Stretch] = []
    for each in _pieces_of(left, right):
        last = found[-1] if found else None
        joins = last is not None and last.end == each.begin
        if joins and last is not None and (last.kind, last.meets) == (each.kind, each.meets):
            found[-1] = replace(last, end=each.end, records=last.records + each.records)
        elif joins and last is not None and len(found) >= MOST_STRETCHES:
            found[-1] = Stretch("damage", Meets.NO_RECORD, last.begin, each.end, last.records + each.records)
        else:
            found.append(each)
    return found


def _pieces_of(left: Sequence[StoreFile], right: LogBytes) -> Iterator[Stretch]:
    gaps: list[LogGap] = []
    for run in log_runs(left, gaps.append):
        yield from _of_gaps(gaps, right)
        yield from _of_run(run, right)
    yield from _of_gaps(gaps, right)


def _of_run(run: LogRun, right: LogBytes) -> Iterator[Stretch]:
    base, header = run.base_offset, header_size(run.file)
    starts = run.positions - header
    edges = np.append(starts, run.end) + base
    verdicts = np.empty(len(starts), np.int8)
    for piece in right.pieces(int(edges[0]), int(edges[-1])):
        first, last = (int(row) for row in np.searchsorted(edges[:-1], (piece.begin, piece.end)))
        if piece.data is None:
            verdicts[first:last] = ABSENT
        elif first < last:
            whole = last if edges[last] <= piece.end else last - 1
            _judge(run, piece, first, whole, verdicts)
            for row in range(whole, last):  # one record lies in two files
                verdicts[row] = _across_files(run, right, int(edges[row]), int(edges[row + 1]))
    changes = np.flatnonzero(np.diff(verdicts)) + 1
    for first, last in zip([0, *changes.tolist()], [*changes.tolist(), len(verdicts)], strict=True):
        meets = Meets.ABSENT if verdicts[first] == ABSENT else BY_VERDICT[int(verdicts[first])]
        yield Stretch("messages", meets, int(edges[first]), int(edges[last]), last - first)


def _judge(run: LogRun, piece: Piece, first: int, last: int, verdicts: Codes) -> None:
    """Verdicts of the rows [first, last), whose records lie in the piece."""
    if first == last or piece.data is None:
        return
    header, shift = header_size(run.file), run.base_offset - piece.base_offset
    begin = int(run.positions[first]) - header
    end = run.end if last == len(run.positions) else int(run.positions[last]) - header
    same = first_difference(run.data[begin:end], piece.data[begin + shift : end + shift])
    differs = begin + same + header
    equal = last - first
    if begin + same < end:
        equal = int(np.searchsorted(run.positions, differs, "right")) - 1 - first
    verdicts[first : first + equal] = kernel.EQUAL
    rest = slice(first + equal, last)
    judge_records(run.data, run.positions[rest], header, piece.data, shift, piece.base_offset, verdicts[rest])


def _across_files(run: LogRun, right: LogBytes, begin: int, end: int) -> int:
    own = run.data[begin - run.base_offset : end - run.base_offset].tobytes()
    same = right.bytes_of(begin, end) == own
    return kernel.EQUAL if same else kernel.NO_RECORD


def _of_gaps(gaps: list[LogGap], right: LogBytes) -> Iterator[Stretch]:
    for gap in gaps:
        begin = gap.physical_offset
        for piece in right.pieces(begin, begin + gap.length):
            yield Stretch(gap.kind, _meets(gap, piece), piece.begin, piece.end)
    gaps.clear()


def _meets(gap: LogGap, piece: Piece) -> Meets:
    """What the other log has in a gap of the first: a blank is compared by its first bytes, bytes that were never
    written by whether the other log wrote there."""
    if piece.data is None:
        return Meets.ABSENT
    at, end = piece.begin - piece.base_offset, piece.end - piece.base_offset
    if gap.kind == "unwritten":
        return Meets.EQUAL if _zeros(piece.data, at, min(end, piece.written)) else Meets.NO_RECORD
    if gap.kind == "blank":
        end = min(end, at + BLANK_HEAD)
    own = np.frombuffer(map_file(gap.file.path), np.uint8)
    shift = (gap.file.base_offset or 0) - piece.base_offset
    for start in range(at, end, WINDOW_BYTES):
        stop = min(end, start + WINDOW_BYTES)
        same = first_difference(own[start - shift : stop - shift], piece.data[start:stop])
        release_pages(own, start - shift, stop - shift)
        if same < stop - start:
            return Meets.UNWRITTEN if _zeros(piece.data, at, min(end, piece.written)) else Meets.NO_RECORD
    return Meets.EQUAL


def _zeros(data: Bytes, begin: int, end: int) -> bool:
    for start in range(begin, end, WINDOW_BYTES):
        stop = min(end, start + WINDOW_BYTES)
        if written_from(data, start, stop) < stop:
            return False
        release_pages(data, start, stop)
    return True
