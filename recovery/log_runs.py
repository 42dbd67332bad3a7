"""The records of a whole log in physical order, in runs that bound memory, with everything that is no record named.

A record belongs to the log when it is well-formed and stands where it says. After bytes that are neither, the log goes
on at the next record that proves itself so.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from parsers.commitlog.check import check_blank, check_record
from parsers.commitlog.message import decode_message
from parsers.commitlog.shape import is_blank
from parsers.errors import StoreFormatError, UnreadableFile
from parsers.kernels.written import written_bytes
from parsers.mapped import map_file, open_evidence, release_pages, require_whole
from parsers.store import StoreFile
from recovery.record_walk import Bytes, Codes, Longs, next_record, walk, walk_judging

RECORDS_PER_RUN = 1 << 15
CHECKED_AT_ONCE = 1 << 20

GapKind = Literal["blank", "unwritten", "damage", "stale"]


@dataclass(frozen=True, slots=True)
class LogRun:
    """Records that follow one another without a gap: `positions` of their messages in `data`, the whole file; they
    begin at byte `start` and end before byte `end`.

    `crc`: the verdict of `record_walk` on each of them, empty where none was asked for.
    """

    file: StoreFile
    data: Bytes
    positions: Longs
    end: int
    crc: Codes

    @property
    def base_offset(self) -> int:
        return self.file.base_offset or 0

    @property
    def start(self) -> int:
        return int(self.positions[0]) - self.file.header_size


@dataclass(frozen=True, slots=True)
class LogGap:
    """Bytes of a log file that are no record of the log.

    `blank`: a correct end-of-file record. `unwritten`: zeros up to the file's end. `stale`: well-formed records of
    another place behind the log's end. `damage`: anything else, `reason` says what the first byte is not.
    """

    file: StoreFile
    file_pos: int
    length: int
    kind: GapKind
    reason: str = ""

    @property
    def physical_offset(self) -> int:
        return (self.file.base_offset or 0) + self.file_pos


GapSink = Callable[[LogGap], None]


def log_runs(files: Sequence[StoreFile], gaps: GapSink) -> Iterator[LogRun]:
    """Runs of records of the files, which are given in offset order; the rest of their bytes goes to `gaps`.

    Runs and gaps of a file add up to its size. A file that the system refuses is one gap, and so is what is left of one
    that became shorter. The pages of a run are given back once the next one is asked for.
    """
    for file in files:
        yield from runs_between(file, 0, file.size, gaps)


def runs_between(
    file: StoreFile, start: int, end: int, gaps: GapSink, *, most: int = RECORDS_PER_RUN, crc: bool = False
) -> Iterator[LogRun]:
    """The runs of the records that start in [start, end) of a file, and the gaps behind them.

    A run has at most so many records, with `crc` they come with a verdict on their CRCs.
    Parts that a file is cut into, at any bytes, have its runs and gaps between them. The exception is a cut inside a
    record that holds a well-formed record of that very place: runs and gaps then add up to more than the file.
    """
    try:
        buffer = map_file(file.path)
    except StoreFormatError as refused:
        if start == 0:
            gaps(LogGap(file, 0, file.size, "damage", refused.problem))
        return
    data, base_offset, header = np.frombuffer(buffer, np.uint8), file.base_offset or 0, file.header_size
    last = len(data) if end >= file.size else end
    at = released = _first_of_part(file, data, start)
    while at < last:
        try:
            require_whole(buffer)
        except UnreadableFile as shorter:
            gaps(LogGap(file, at, last - at, "damage", shorter.problem))
            return
        positions, verdicts = np.empty(most, np.int64), np.empty(most if crc else 0, np.int8)
        if crc:
            count, following = walk_judging(data, at, base_offset, header, positions, verdicts)
        else:
            count, following = walk(data, at, base_offset, header, positions)
        owned = int(np.searchsorted(positions[:count], last + header))
        if owned < count:
            following = int(positions[owned]) - header
        if owned:
            yield LogRun(file, data, positions[:owned], following, verdicts[:owned])
            release_pages(buffer, released, at)
            released = at
        if count < most and owned == count:
            following = _gap(file, buffer, data, following, gaps)
        at = following


def _first_of_part(file: StoreFile, data: Bytes, start: int) -> int:
    """Where the part from byte `start` on begins: at the first record that proves itself, or at the file's start."""
    if start == 0:
        return 0
    written = first_written(file, start) is not None
    found = next_record(data, start, file.base_offset or 0, file.header_size) if written else -1
    return len(data) if found < 0 else found


def _gap(file: StoreFile, buffer: memoryview, data: Bytes, at: int, gaps: GapSink) -> int:
    """Name the bytes from `at` on that are no record; returns where the log goes on."""
    if at == len(data):
        return at
    if first_written(file, at) is None:
        gaps(LogGap(file, at, len(data) - at, "unwritten"))
        return len(data)
    following = next_record(data, at, file.base_offset or 0, file.header_size)
    if following < 0 and _is_correct_blank(buffer, data, at, file.header_size):
        gaps(LogGap(file, at, len(data) - at, "blank"))
        return len(data)
    written = max(at, written_bytes(data)) if following < 0 else following
    if written > at:
        kind, reason = _why(file, buffer, at, at_end=following < 0)
        gaps(LogGap(file, at, written - at, kind, reason))
    if written < len(data) and following < 0:
        gaps(LogGap(file, written, len(data) - written, "unwritten"))
    return written if following >= 0 else len(data)


def first_written(file: StoreFile, at: int) -> int | None:
    """The start of a piece from `at` on that is not all zero, None when everything is; holes are passed over unread."""
    try:
        opened = open_evidence(file.path)
    except OSError:  # gone since it was mapped
        return at
    with opened:
        while True:
            try:
                at = opened.seek(at, os.SEEK_DATA)
            except OSError:
                return None
            piece = opened.read(CHECKED_AT_ONCE)
            if not piece or piece.count(0) < len(piece):
                return at if piece else None
            at += len(piece)


def _is_correct_blank(buffer: memoryview, data: Bytes, at: int, header: int) -> bool:
    return is_blank(data, at, header) and check_blank(buffer, at, header) is None


def _why(file: StoreFile, buffer: memoryview, at: int, *, at_end: bool) -> tuple[GapKind, str]:
    base_offset, header = file.base_offset or 0, file.header_size
    try:
        message = decode_message(buffer, at + header)
        if at_end and message.physical_offset < base_offset + at + header and message.body_crc_ok:
            return "stale", f"a record of physical offset {message.physical_offset}"
        check_record(buffer, at, base_offset, header)
    except StoreFormatError as error:
        return "damage", error.problem if error.field is None else f"{error.problem} ({error.field} {error.actual})"
    return "damage", "no record"
