"""Every file below a folder, whatever stands in the way."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from parsers.store.store_file import StoreFile, classify


def identities(folders: Iterable[Path]) -> set[tuple[int, int]]:
    """Device and inode of the folders that are there."""
    seen = set()
    for folder in folders:
        with suppress(OSError):
            found = folder.stat()
            seen.add((found.st_dev, found.st_ino))
    return seen


def walk(root: Path, folder: Path, above: Sequence[Path], apart: Collection[tuple[int, int]]) -> Iterator[StoreFile]:
    """Every file below `folder`, in name order; `above` are the folders on the way down, against loops of links.

    Folders in `apart` are passed over.
    """
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as refused:
        yield _unlisted(folder, f"cannot be listed: {refused.strerror}")
        return
    way = (*above, folder)
    for entry in entries:
        path = folder / entry.name
        try:
            if not entry.is_dir():
                yield classify(root, path)
            elif entry.is_symlink() and identities([path]) & identities(way):
                yield _unlisted(path, "a link back to a folder above it")
            elif not apart or identities([path]).isdisjoint(apart):
                yield from walk(root, path, way, apart)
        except OSError as refused:
            yield _unlisted(path, f"cannot be looked at: {refused.strerror}")


def _unlisted(path: Path, why: str) -> StoreFile:
    return StoreFile(path, "not_understood", 0, 0, why=why)
