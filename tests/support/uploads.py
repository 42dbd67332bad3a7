"""Stores put into buckets."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from pipelines.objects.place import ObjectPlace
from pipelines.objects.storage import Storage


def upload(store: Path, address: str, names: Sequence[str] | None = None) -> None:
    """Put a store, or some of its files, at an address; the files get the times of their objects, of the upload."""
    bucket = ObjectPlace.of(address, Storage())
    files = [each for each in store.rglob("*") if each.is_file()] if names is None else [store / name for name in names]
    for file in files:
        place = bucket / file.relative_to(store).as_posix()
        place.write_bytes(file.read_bytes())
        os.utime(file, (place.stat().st_mtime,) * 2)
