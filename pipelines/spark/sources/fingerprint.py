"""What a store file was when it was read: used bytes and their hash, so that a result can be traced to its evidence."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np

from parsers.evidence.mapped import map_file, release_pages
from parsers.evidence.spans import written_end
from parsers.store.places import is_rocksdb_file
from parsers.store.store_file import StoreFile

BLOCK = 8 << 20


def fingerprint(file: StoreFile) -> tuple[int, str]:
    """Bytes up to the last one that is not zero, and the SHA-256 of those bytes, as hex.

    Store files are created at full size and filled; the zeros after the used part are neither hashed nor counted, so
    the hash of a sparse copy is the same. Of a database all bytes of its files, one after another by their names.
    Raises UnreadableFile when the system refuses the file.
    """
    if file.kind == "rocksdb":
        return _of_database(file.path)
    data = np.frombuffer(map_file(file.path), np.uint8)
    used = written_end(file.path, data)
    digest = hashlib.sha256()
    for start in range(0, used, BLOCK):
        end = min(start + BLOCK, used)
        digest.update(data[start:end].data)
        release_pages(data, start, end)
    return used, digest.hexdigest()


def _of_database(folder: Path) -> tuple[int, str]:
    size, digest = 0, hashlib.sha256()
    for path in sorted(path for path in folder.iterdir() if is_rocksdb_file(path.name) and path.is_file()):
        content = map_file(path)
        digest.update(content)
        size += len(content)
    return size, digest.hexdigest()
