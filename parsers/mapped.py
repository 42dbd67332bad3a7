"""Read-only maps of store files: the only way bytes of evidence are reached."""

from __future__ import annotations

import mmap
from pathlib import Path

import numpy as np
import numpy.typing as npt

from parsers.errors import UnreadableFile

Bytes = npt.NDArray[np.uint8]


def map_file(path: Path) -> memoryview:
    """The whole file as read-only bytes, nothing copied; empty for a file of 0 bytes.

    The map lives as long as a view of it does. Raises UnreadableFile where the system refuses (missing, no permission,
    a folder, a loop of links), so that one closed file becomes a `Damage` row and the others are still read.
    """
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            if size == 0:
                return memoryview(b"")
            return memoryview(mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ))
    except (OSError, ValueError) as refused:  # ValueError: a NUL in the name
        why = refused.strerror if isinstance(refused, OSError) and refused.strerror else str(refused)
        raise UnreadableFile(f"cannot be read: {why}", path=path) from refused


def release_pages(data: memoryview | Bytes, begin: int, end: int) -> None:
    """Let the system drop the pages of a map from the one with byte `begin` to before the one with byte `end`.

    They can be read again, and are not counted as ours. `data` is a whole file's bytes, from position 0; bytes that are
    no map are left alone.
    """
    owner = _map_behind(data)
    first, last = begin - begin % mmap.PAGESIZE, end - end % mmap.PAGESIZE
    if owner is not None and last > first:
        owner.madvise(mmap.MADV_DONTNEED, first, last - first)


def _map_behind(data: memoryview | Bytes) -> mmap.mmap | None:
    owner: object = data
    while isinstance(owner, np.ndarray):
        owner = owner.base
    owner = owner.obj if isinstance(owner, memoryview) else owner
    return owner if isinstance(owner, mmap.mmap) else None
