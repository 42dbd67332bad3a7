"""Read-only maps of store files: the only way bytes of evidence are reached."""

from __future__ import annotations

import mmap
from pathlib import Path


def map_file(path: Path) -> memoryview:
    """The whole file as read-only bytes, nothing copied; empty for a file of 0 bytes.

    The map lives as long as a view of it does. Raises OSError as `open` does (missing, no permission).
    """
    with path.open("rb") as file:
        size = file.seek(0, 2)
        if size == 0:
            return memoryview(b"")
        return memoryview(mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ))
