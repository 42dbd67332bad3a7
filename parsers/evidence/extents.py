"""Where a file's bytes are: store files are made at full size, and what was never written is a hole."""

from __future__ import annotations

import errno
import os
from io import FileIO
from pathlib import Path

from parsers.evidence.mapped import open_evidence
from parsers.evidence.supplied import supply_of

MOST_EXTENTS = 4096


def data_end(path: Path, size: int) -> int:
    """A position after which every byte of a mapped file is zero, without reading any: where its last hole starts.

    `size`, that of its map, where it does not end in a hole, is in very many pieces, or has its bytes elsewhere; and
    where the system refuses the file by now: the bytes of a deleted one stay while they are mapped.
    """
    if supply_of(path) is not None:
        return size
    try:
        with open_evidence(path) as file:
            end = 0
            for _ in range(MOST_EXTENTS):
                start = _next_data(file, end)
                if start is None:
                    return min(end, size)
                end = file.seek(start, os.SEEK_HOLE)
    except OSError:
        return size
    return size


def _next_data(file: FileIO, at: int) -> int | None:
    try:
        return file.seek(at, os.SEEK_DATA)
    except OSError as refused:
        if refused.errno == errno.ENXIO:  # no data from `at` on
            return None
        raise
