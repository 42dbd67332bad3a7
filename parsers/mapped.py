"""Read-only maps of store files: the only way bytes of evidence are reached."""

from __future__ import annotations

import mmap
from pathlib import Path

from parsers.errors import UnreadableFile


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


def release_pages(view: memoryview, end: int) -> None:
    """Let the system drop the pages of a map before byte `end`: they can be read again, and are not counted as ours."""
    whole = end - end % mmap.PAGESIZE
    if whole and isinstance(view.obj, mmap.mmap):
        view.obj.madvise(mmap.MADV_DONTNEED, 0, whole)
