"""Going through a mapped file piece by piece, so that its pages do not add up to the size of the file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from parsers.evidence.extents import data_end
from parsers.evidence.mapped import release_pages, require_whole
from parsers.kernels.arrays import Bytes
from parsers.kernels.written import written_bytes

LARGE = 1 << 26  # smaller files are let go with their map


def spans(data: Bytes, begin: int, end: int, step: int) -> Iterator[tuple[int, Bytes]]:
    """(position, bytes) of each piece of `step` bytes from `begin` to `end`; the pages of a piece that is done go.

    `data` is a whole file's bytes, from position 0. A piece can be looked at again; its pages are then read again.
    Raises UnreadableFile where the file became shorter.
    """
    for at in range(begin, end, step):
        require_whole(data)
        piece_end = min(end, at + step)
        yield at, data[at:piece_end]
        _release(data, at, piece_end)


def written_end(path: Path, data: Bytes) -> int:
    """Bytes of a whole mapped file up to and including the last one that is not zero; holes after it are not read.

    Raises as `spans` does.
    """
    for end in range(data_end(path, len(data)), 0, -LARGE):
        begin = max(0, end - LARGE)
        require_whole(data)
        written = written_bytes(data[begin:end])
        if written:
            return begin + written
        _release(data, begin, end)
    return 0


def _release(data: Bytes, begin: int, end: int) -> None:
    if len(data) > LARGE:
        release_pages(data, begin, end)
