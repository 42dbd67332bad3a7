"""Copies of golden stores that tests may change: holes of sparse files stay holes, which most of their bytes are."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

PIECE = 1 << 20


def copy_tree(
    folder: Path,
    to: Path,
    *,
    ignore: Callable[[str, list[str]], Iterable[str]] | None = None,
    into_existing: bool = False,
) -> Path:
    """Copy a folder with its times, as `shutil.copytree` does, and return the copy.

    Args:
        ignore: what `shutil.ignore_patterns` gives: names that are not copied.
        into_existing: the folder that is copied to may be there already.
    """
    return Path(shutil.copytree(folder, to, ignore=ignore, copy_function=copy_file, dirs_exist_ok=into_existing))


def copy_file(source: str | Path, target: str | Path) -> None:
    """Copy one file with its times; only what is not a hole is read and written."""
    with Path(source).open("rb") as read, Path(target).open("wb") as written:
        written.truncate(os.fstat(read.fileno()).st_size)
        for at, piece in pieces(read.fileno()):
            os.pwrite(written.fileno(), piece, at)
    shutil.copystat(source, target)


def pieces(file: int) -> Iterator[tuple[int, bytes]]:
    """What an open file has outside its holes, by position, at most PIECE bytes at a time."""
    size, end = os.fstat(file).st_size, 0
    while end < size and (start := _next_data(file, end)) is not None:
        end = os.lseek(file, start, os.SEEK_HOLE)
        while start < end and (piece := os.pread(file, min(PIECE, end - start), start)):
            yield start, piece
            start += len(piece)


def _next_data(file: int, position: int) -> int | None:
    """Where the next bytes begin that are not a hole; None: only a hole is left."""
    try:
        return os.lseek(file, position, os.SEEK_DATA)
    except OSError:
        return None
