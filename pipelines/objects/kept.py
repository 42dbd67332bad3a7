"""Blocks of objects that were fetched once, on this machine's disk, for every process that reads the same view."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from itertools import accumulate
from pathlib import Path

from pipelines.objects.place import ObjectPlace

BLOCK = 1 << 18
LEAST_FREE, SHARE_FREE = 1 << 30, 10
"""What is left free of the disk: so many bytes, and one in so many of all."""


class KeptBlocks:
    """One file with room for all blocks, of which only those that were kept take any, and one byte for each block."""

    def __init__(self, scratch: Path, objects: Mapping[str, ObjectPlace]) -> None:
        counts = {name: -(-objects[name].stat().st_size // BLOCK) for name in sorted(objects)}
        self._first = dict(zip(counts, accumulate(counts.values(), initial=0), strict=False))
        self._blocks, self._there = (_opened(scratch / name) for name in ("blocks", "blocks.there"))

    def read(self, name: str, begin: int, end: int) -> bytes | None:
        """The bytes [begin, end) of an object, of which `begin` is that of a block; None where not all were kept."""
        first, count = self._first[name] + begin // BLOCK, -(-(end - begin) // BLOCK)
        if os.pread(self._there, count, first) != b"\1" * count:
            return None
        return os.pread(self._blocks, end - begin, first * BLOCK)

    def keep(self, name: str, begin: int, content: bytes) -> None:
        """Keep whole blocks of an object, or those at its end, as long as the disk has room."""
        free = os.fstatvfs(self._blocks)
        if free.f_bavail * free.f_frsize < max(LEAST_FREE, free.f_blocks * free.f_frsize // SHARE_FREE):
            return
        first = self._first[name] + begin // BLOCK
        with suppress(OSError):  # no room after all
            if os.pwrite(self._blocks, content, first * BLOCK) == len(content):
                os.pwrite(self._there, b"\1" * -(-len(content) // BLOCK), first)


def _opened(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
