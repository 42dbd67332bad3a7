"""Bytes written into the files of a new store, which have their whole size from the start as mapped files have."""

from __future__ import annotations

import os
from pathlib import Path

from parsers.kernels.arrays import Bytes


def write_piece(path: Path, file_size: int, at: int, data: bytes | memoryview) -> None:
    """Write some bytes of a file, which is made where there is none. Raises OSError."""
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        if os.fstat(file).st_size != file_size:
            os.ftruncate(file, file_size)
        write_at(file, at, data)
    finally:
        os.close(file)


def write_at(file: int, at: int, data: bytes | memoryview | Bytes) -> None:
    """Write all bytes from a position of an open file on: the system may take a part of them at a time.

    Raises OSError.
    """
    left = memoryview(data)  # type: ignore[arg-type]
    while left:
        written = os.pwrite(file, left, at)
        at, left = at + written, left[written:]
