"""DuckDB over the parts of a lake on an object store: a part is opened by its address and read by ranges.

DuckDB's own extension for that is no package of pip. What a connection may read is decided by DuckDB (`allowed_paths`),
before a file is asked for here.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from fsspec import AbstractFileSystem

from pipelines.objects.place import ObjectPlace, Ranges

if TYPE_CHECKING:
    from pipelines.objects.storage import Storage


class ObjectFiles(AbstractFileSystem):  # type: ignore[misc]
    """The objects of one server, read-only. A part never changes, so it is looked at once."""

    cachable = False

    def __init__(self, storage: Storage) -> None:
        super().__init__()
        self._storage, self.protocol = storage, storage.scheme
        self._known: dict[str, ObjectPlace] = {}

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        place = self._place(path)
        return {"name": path, "size": place.stat().st_size, "type": "file", "mtime": place.stat().st_mtime}

    def modified(self, path: str) -> datetime:
        return datetime.fromtimestamp(self._place(path).stat().st_mtime, UTC)

    def open(self, path: str, mode: str = "rb", **_: Any) -> Any:
        if mode != "rb":
            raise PermissionError(f"{path}: objects are only read here")
        return Ranges(self._place(path))

    def glob(self, path: str, **_: Any) -> list[str]:
        return [path]

    def _place(self, path: str) -> ObjectPlace:
        address = path if "://" in path else f"{self.protocol}://{path}"
        if (known := self._known.get(address)) is None:
            known = self._known[address] = ObjectPlace.of(address, self._storage).looked_at()
        return known
