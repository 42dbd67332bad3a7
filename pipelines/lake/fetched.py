"""The catalogue of a lake on an object store, as a file of this machine: DuckDB opens files only.

It holds views and no rows. Each content is fetched once and kept in the user's own cache, under another name: whoever
has an earlier one open goes on with it.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pipelines.objects.place import ObjectPlace, Place


def catalogue_here(catalog: Place) -> Path:
    """The catalogue as a file of this machine. Raises FileNotFoundError where there is none, OSError."""
    if isinstance(catalog, Path):
        return catalog
    folder, of_lake = _cache(), _digest(str(catalog))
    file = folder / f"{of_lake}-{_digest(catalog.stat().e_tag)}.duckdb"
    if file.exists():
        return file
    content, seen = catalog.read_with_tag()
    folder.mkdir(parents=True, exist_ok=True)
    fresh = folder / f"{of_lake}-{os.getpid()}"
    fresh.write_bytes(content)
    for old in folder.glob(f"{of_lake}-*.duckdb"):
        old.unlink(missing_ok=True)
    return fresh.replace(folder / f"{of_lake}-{_digest(seen.e_tag)}.duckdb")


@contextmanager
def new_catalogue(catalog: Place) -> Iterator[Path]:
    """A file to write a new catalogue to, which takes the place of the published one when the block ends well."""
    if isinstance(catalog, ObjectPlace):
        with tempfile.TemporaryDirectory(prefix="rocketlens-catalogue-") as folder:
            yield (fresh := Path(folder) / catalog.name)
            catalog.write_bytes(fresh.read_bytes())
        return
    catalog.parent.mkdir(parents=True, exist_ok=True)
    fresh = catalog.with_name(f"catalog.{os.getpid()}.new")
    fresh.unlink(missing_ok=True)
    try:
        yield fresh
        os.replace(fresh, catalog)
    finally:
        for left in (fresh, fresh.with_name(f"{fresh.name}.wal")):
            left.unlink(missing_ok=True)


def _cache() -> Path:
    """The user's own cache, as XDG's base directories say."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rocketlens" / "catalogues"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:24]
