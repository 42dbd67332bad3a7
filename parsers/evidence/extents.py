"""Where a file's bytes are: store files are made at full size, and what was never written is a hole."""

from __future__ import annotations

import errno
import mmap
import os
from collections.abc import Iterator
from contextlib import suppress
from io import FileIO
from pathlib import Path
from types import TracebackType

from parsers.evidence.mapped import open_evidence
from parsers.evidence.supplied import supply_of

PAGE = mmap.PAGESIZE


def data_end(path: Path, size: int) -> int:
    """A position after which every byte of a mapped file is zero, without reading any: where its last hole starts.

    `size`, that of its map, where it does not end in a hole, or has its bytes elsewhere; and where the system refuses
    the file by now: the bytes of a deleted one stay while they are mapped.
    """
    with _Data(path) as data:
        return data.end(0, size)


def data_windows(path: Path, at: int, end: int, most: int) -> Iterator[tuple[int, int]]:
    """Start and end of windows between two positions of a mapped file, in order, at most `most` bytes each.

    All outside of them is zero. None starts or ends in a hole, except where `data_end` cannot tell, either.
    """
    with _Data(path) as data:
        while (at := data.next(at, end)) < end:
            stop = min(end, at + most)
            yield at, data.end(at, stop)
            at = stop


class _Data:
    """What a file has that is no hole, as its file system says; all of it where that says nothing.

    Data is asked for, never holes: on some file systems a hole is looked for page by page.
    """

    def __init__(self, path: Path) -> None:
        self._file: FileIO | None = None
        if supply_of(path) is None:
            with suppress(OSError):
                self._file = open_evidence(path)

    def __enter__(self) -> _Data:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()

    def next(self, at: int, end: int) -> int:
        """The first position from `at` on that is in no hole; `end` where there is none before it."""
        if self._file is None:
            return min(at, end)
        try:
            return min(self._file.seek(at, os.SEEK_DATA), end)
        except OSError as refused:
            return end if refused.errno == errno.ENXIO else min(at, end)  # ENXIO: a hole to the end

    def end(self, at: int, end: int) -> int:
        """The position after the last page between the two that is no hole; `at` without one.

        Found by steps that double and then by halving: most files have little.
        """
        low, high = at // PAGE, -(-end // PAGE)  # no page from `high` on has data, the one before `low` has or is none
        if high > low and self.next((high - 1) * PAGE, end) < end:
            return end
        step = 1
        while low < high:
            middle = min(low + step - 1, (low + high) // 2)
            found = self.next(middle * PAGE, end)
            if found < end:
                low, step = found // PAGE + 1, 2 * step
            else:
                high = middle
        return max(at, min(low * PAGE, end))
