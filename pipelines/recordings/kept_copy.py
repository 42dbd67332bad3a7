"""Copies of a broker's configuration files that somebody kept, plain or gzipped: what they hold, and when it was so."""

from __future__ import annotations

import gzip
import io
import re
from pathlib import Path

from parsers.evidence.mapped import read_small
from parsers.layouts.fastjson import MAX_BYTES, Json, parse

GZIP_MAGIC = b"\x1f\x8b"
WRITTEN_IN_NAME = re.compile(r"(?<!\d)\d{13}(?!\d)")
"""Epoch milliseconds in the name of a kept copy."""


def read_copy(path: Path) -> Json:
    """The JSON of a copy. Raises as `copy_bytes`, and StoreFormatError: no JSON as a broker writes it."""
    return parse(copy_bytes(path))


def copy_bytes(path: Path) -> bytes:
    """What a copy holds, of at most MAX_BYTES and one more once it is unpacked.

    Raises:
        StoreFormatError: too much of it.
        OSError, EOFError, zlib.error: the file cannot be read, or its gzip data ends or breaks early.
    """
    stored = read_small(path, MAX_BYTES)
    if stored.startswith(GZIP_MAGIC):
        stored = gzip.GzipFile(fileobj=io.BytesIO(stored)).read(MAX_BYTES + 1)
    return stored


def written_ms(path: Path) -> int:
    """When a copy was made: the epoch milliseconds in its name, else when the file was last changed."""
    named = WRITTEN_IN_NAME.search(path.name)
    return int(named[0]) if named else path.stat().st_mtime_ns // 1_000_000
