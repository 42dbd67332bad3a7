"""Where a file's bytes are: store files are made at full size, and what was never written is a hole."""

from __future__ import annotations

import errno
import os
from io import FileIO
from pathlib import Path

from parsers.damage.errors import UnreadableFile
from parsers.evidence.mapped import open_evidence
from parsers.evidence.supplied import supply_of

MOST_EXTENTS = 4096


def data_end(path: Path) -> int:
    """A position after which every byte of the file is zero, without reading any: where its last hole starts.

    The file's size where it does not end in a hole, where it is in very many pieces, or where its bytes are elsewhere.
    Raises UnreadableFile where the system refuses the file.
    """
    try:
        if supply_of(path) is not None:
            return path.stat().st_size
        with open_evidence(path) as file:
            size, end = file.seek(0, os.SEEK_END), 0
            for _ in range(MOST_EXTENTS):
                start = _next_data(file, end)
                if start is None:
                    return end
                end = file.seek(start, os.SEEK_HOLE)
            return size
    except OSError as refused:
        raise UnreadableFile(f"cannot be read: {refused.strerror}", path=path) from refused


def _next_data(file: FileIO, at: int) -> int | None:
    try:
        return file.seek(at, os.SEEK_DATA)
    except OSError as refused:
        if refused.errno == errno.ENXIO:  # no data from `at` on
            return None
        raise
