"""One CommitLog file as the readers see it: its bytes, its place in the log, and where a slice of it begins."""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from parsers.commitlog.layout import RECORD_START
from parsers.commitlog.resync import (
    NOTHING,
    PROOF_BYTES_A_BYTE,
    PROOF_BYTES_FREE,
    STALE,
    Budget,
    find_record,
    walk_chain,
    written_from,
)
from parsers.commitlog.shape import AT_MAGIC, own_offset, shape_of
from parsers.kernels.blocks import Bytes
from parsers.mapped import map_file, open_evidence, release_pages, require_whole
from parsers.store import StoreFile

NAME_DIGITS = 20
WINDOW_BYTES = 32 << 20


def proof_budget(size: int) -> Budget:
    return np.array([PROOF_BYTES_FREE + PROOF_BYTES_A_BYTE * size], np.int64)


@dataclass(slots=True)
class LogFile:
    """An open CommitLog file.

    Attributes:
        base_offset: physical offset of the file's first byte.
        is_followed: the log goes on in a next file, so that it does not end in this one.
    """

    path: Path
    view: memoryview
    base_offset: int
    is_followed: bool
    data: Bytes = field(init=False)
    budget: Budget = field(init=False)
    _released: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self.data = np.frombuffer(self.view, np.uint8)
        self.budget = proof_budget(len(self.data))

    @property
    def size(self) -> int:
        return len(self.data)

    def require_whole(self) -> None:
        """Raise UnreadableFile where the file became shorter since it was opened."""
        require_whole(self.view)

    def release(self, end: int) -> None:
        """Let the pages before `end` go, a window at a time, so that a file's share of memory is bounded.

        They can be read again.
        """
        end -= end % WINDOW_BYTES
        if end > self._released:
            release_pages(self.view, self._released, end)
            self._released = end

    def find(self, at: int, limit: int | None = None) -> tuple[int, int]:
        """`resync.find_record` in this file, a window at a time, holes left out."""
        end = self.size if limit is None else limit
        while at < end:
            self.require_whole()
            at = max(at, self._next_data(at) - RECORD_START.size)  # a record's first bytes are zero: they may be a hole
            stop = min(end, at + WINDOW_BYTES)
            place, kind = find_record(self.data, at, stop, self.base_offset, self.budget)
            if kind != NOTHING:
                return place, kind
            release_pages(self.view, at, stop)
            at = stop
        return end, NOTHING

    def written_from(self, at: int) -> int:
        """Position of the first byte from `at` on that is not zero; the size of the file without one."""
        while at < self.size:
            self.require_whole()
            at = self._next_data(at)
            stop = min(self.size, at + WINDOW_BYTES)
            place = written_from(self.data, at, stop)
            if place < stop:
                return place
            release_pages(self.view, at, stop)
            at = stop
        return self.size

    def chain(self, at: int, end: int, in_place: bool) -> tuple[int, int, int, int]:
        """`resync.walk_chain` in this file, a window at a time."""
        records, last, before = 0, -1, -1
        while at < end:
            self.require_whole()
            stop = min(end, at + WINDOW_BYTES)
            place, more, newest, second = walk_chain(self.data, at, stop, self.base_offset, in_place)
            if more:
                last, before = newest, second if second >= 0 else last
            release_pages(self.view, at, stop)
            records, at = records + more, place
            if place < stop:
                break
        return at, records, last, before

    def _next_data(self, at: int) -> int:
        """Where the next bytes are that the file system holds, from `at` on: the rest of a hole is not read."""
        try:
            with open_evidence(self.path) as file:
                return min(max(at, os.lseek(file.fileno(), at, os.SEEK_DATA)), self.size)
        except OSError as error:
            return self.size if error.errno == errno.ENXIO else at  # ENXIO: a hole to the end


def open_log(file: StoreFile) -> LogFile:
    """Map one file. Raises UnreadableFile where the system refuses.

    A file whose name is no number (a copy under another name) is placed by what its first provable record says.
    """
    view = map_file(file.path)
    base_offset = file.base_offset if file.base_offset is not None else _base_from_records(file.path, view)
    return LogFile(file.path, view, base_offset, _is_followed(file.path, base_offset, len(view)))


def _base_from_records(path: Path, view: memoryview) -> int:
    log = LogFile(path, view, -1, False)
    if shape_of(log.data, 0)[0]:
        return own_offset(log.data, 0)
    at, kind = log.find(0)
    return own_offset(log.data, at) - at if kind == STALE else 0


def _is_followed(path: Path, base_offset: int, size: int) -> bool:
    """The next file of the log is there and begins with a record: a pre-allocated one is all zero."""
    try:
        with open_evidence(path.with_name(f"{base_offset + size:0{NAME_DIGITS}d}")) as following:
            start = following.read(RECORD_START.size) or b""
    except OSError:
        return False
    return any(start[AT_MAGIC:])
