"""One CommitLog file as the readers see it: its bytes, its place in the log, and where a slice of it begins."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from parsers.commitlog.compiled.resync import (
    NOTHING,
    PROOF_BYTES_A_BYTE,
    PROOF_BYTES_FREE,
    STALE,
    Budget,
    find_record,
    store_timestamp_at,
    walk_chain,
    written_from,
)
from parsers.commitlog.compiled.shape import AT_MAGIC, is_blank, own_offset, shape_of
from parsers.commitlog.dledger_headers.layout import header_size
from parsers.commitlog.record.layout import RECORD_START, SMALLEST_MESSAGE
from parsers.evidence.extents import data_windows
from parsers.evidence.mapped import map_extended, map_file, read_at, release_pages, require_whole
from parsers.kernels.arrays import Bytes
from parsers.store.store_file import StoreFile

NAME_DIGITS = 20
WINDOW_BYTES = 32 << 20


def proof_budget(size: int) -> Budget:
    return np.array([PROOF_BYTES_FREE + PROOF_BYTES_A_BYTE * size], np.int64)


@dataclass(slots=True)
class LogFile:
    """An open CommitLog file.

    Attributes:
        base_offset: physical offset of the file's first byte.
        header: bytes before each message: those of a DLedger entry's header, or none. Positions are those of records,
            header included.
        is_followed: the log goes on in a next file, so that it does not end in this one.
    """

    path: Path
    view: memoryview
    base_offset: int
    is_followed: bool
    header: int = 0
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
            release_pages(self.data, self._released, end)
            self._released = end

    def find(self, at: int, limit: int | None = None) -> tuple[int, int]:
        """`resync.find_record` in this file, a window at a time, holes left out."""
        end = self.size if limit is None else limit
        before = RECORD_START.size + self.header  # a record's first bytes may be a hole
        for start, stop in data_windows(self.path, at, end, WINDOW_BYTES):
            self.require_whole()
            at = max(at, start - before)
            place, kind = find_record(self.data, at, stop, self.base_offset, self.header, self.budget)
            if kind != NOTHING:
                return place, kind
            release_pages(self.data, at, stop)
            at = stop
        return end, NOTHING

    def written_from(self, at: int) -> int:
        """Position of the first byte from `at` on that is not zero; the size of the file without one."""
        for start, stop in data_windows(self.path, at, self.size, WINDOW_BYTES):
            self.require_whole()
            place = written_from(self.data, start, stop)
            if place < stop:
                return place
            release_pages(self.data, start, stop)
        return self.size

    def chain(self, at: int, end: int, in_place: bool) -> tuple[int, int, int, int]:
        """`resync.walk_chain` in this file, a window at a time."""
        records, last, before = 0, -1, -1
        while at < end:
            self.require_whole()
            stop = min(end, at + WINDOW_BYTES)
            place, more, newest, second = walk_chain(self.data, at, stop, self.base_offset, self.header, in_place)
            if more:
                last, before = newest, second if second >= 0 else last
            release_pages(self.data, at, stop)
            records, at = records + more, place
            if place < stop:
                break
        return at, records, last, before

    def record_size(self, at: int) -> int:
        """Bytes of the record at `at`, header included; 0 where no message has a shape there."""
        total_size = shape_of(self.data, at + self.header)[0]
        return total_size and self.header + total_size

    def stands_in_place(self, at: int) -> bool:
        """The record at `at`, which need not be whole, gives itself the offset at which it stands."""
        message_at = at + self.header
        return self.size - message_at >= SMALLEST_MESSAGE and own_offset(self.data, message_at) == (
            self.base_offset + message_at
        )

    def distance(self, at: int) -> int:
        """From where the record at `at`, which has a shape, stands in the log to where it says that it does."""
        return int(own_offset(self.data, at + self.header)) - (self.base_offset + at + self.header)

    def store_timestamp_ms(self, at: int) -> int:
        """Store time, epoch milliseconds, of the record at `at`, which has a shape."""
        return store_timestamp_at(self.data, at + self.header)

    def is_blank(self, at: int) -> bool:
        """An end-of-file record starts at `at`, whatever its size says."""
        return is_blank(self.data, at, self.header)


def open_log(file: StoreFile) -> LogFile:
    """Map one file. Raises UnreadableFile where the system refuses.

    A file whose name is no number (a copy under another name) is placed by what its first provable record says. Of a
    file that was not listed with its log, the next one is the one in its folder whose name goes on where it ends. Files
    of a compacted queue end each by itself.
    """
    view = map_extended(file.path, file.size) if file.is_extended else map_file(file.path)
    base_offset = file.base_offset if file.base_offset is not None else _base_from_records(file, view)
    following = file.next_path or file.path.with_name(f"{base_offset + len(view):0{NAME_DIGITS}d}")
    is_followed = file.kind != "compaction_log" and _begins_with_record(following)
    return LogFile(file.path, view, base_offset, is_followed, header_size(file))


def _base_from_records(file: StoreFile, view: memoryview) -> int:
    log = LogFile(file.path, view, -1, False, header_size(file))
    at, kind = (0, STALE) if log.record_size(0) else log.find(0)
    message_at = at + log.header
    return own_offset(log.data, message_at) - message_at if kind == STALE else 0


def _begins_with_record(path: Path) -> bool:
    """A file of the log is there and begins with a record: a pre-allocated one is all zero."""
    try:
        start = read_at(path, 0, RECORD_START.size)
    except OSError:
        return False
    return any(start[AT_MAGIC:])
