"""What is done alike with folders of this machine and with places of an object store, and is not one method of both."""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipelines.objects.place import ObjectPlace, Place, StoreRefused

if TYPE_CHECKING:
    import duckdb


def readable(place: Place) -> Any:
    """What Arrow reads Parquet from: the path, or a file that reads ranges of an object."""
    return place if isinstance(place, Path) else place.open_to_read()


@contextmanager
def connected(lake: Place, database: Path | None = None) -> Iterator[duckdb.DuckDBPyConnection]:
    """DuckDB with what it needs to read the parts of a lake; in memory, unless a file is named.

    Connections in memory to one lake that are open at a time share an instance of DuckDB: starting one takes longer
    than most answers. What is made in it by name must therefore be temporary.

    Raises StoreRefused where the server of an object store refuses a part.
    """
    import duckdb

    try:
        with duckdb.connect(f":memory:{lake}" if database is None else str(database)) as connection:
            read_parts(connection, lake)
            yield connection
    except duckdb.Error as error:
        require_served(error)
        raise


def require_served(error: duckdb.Error) -> None:
    """Raise StoreRefused for an error of DuckDB that the server of an object store is the cause of.

    Of an error in a file that Python reads DuckDB keeps the text of its trace.
    """
    trace = [line.strip() for line in str(error).splitlines() if line.strip()]
    kind, _, told = trace[-1].partition(": ") if trace else ("", "", "")
    of_server = kind.rpartition(".")[2] in (StoreRefused.__name__, FileNotFoundError.__name__)
    if of_server and trace[0].startswith("Traceback"):
        cause, _, address = re.sub(r"^\[Errno \d+\] ", "", told).rpartition(": ")
        raise StoreRefused(errno.EIO, cause, address.strip("'")) from error


def read_parts(connection: duckdb.DuckDBPyConnection, lake: Place) -> None:
    """Let a connection read the parts of a lake on an object store; those of a folder it reads as it is."""
    if isinstance(lake, ObjectPlace):
        import duckdb

        from pipelines.objects.duckdb_files import ObjectFiles

        with suppress(duckdb.InvalidInputException):  # another connection to this instance has done so
            connection.register_filesystem(ObjectFiles(lake.storage))


def write_whole(place: Place, text: str) -> None:
    """Replace a small text at once: who reads it finds all of the old one or all of the new one. Raises OSError."""
    if isinstance(place, ObjectPlace):
        place.write_bytes(text.encode())
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    written = place.with_name(f"{place.name}.{os.getpid()}")
    written.write_text(text, "utf-8")
    written.replace(place)


def remove_all(place: Place) -> None:
    """Remove a file, or a folder with all that is below it, and the folders that are empty afterwards."""
    if isinstance(place, ObjectPlace):
        below = () if place.told is not None else place.rglob("*")  # a listing tells of objects
        for one in [place, *below]:
            one.unlink()
        return
    if place.is_dir():
        shutil.rmtree(place)
        return
    place.unlink(missing_ok=True)
    with suppress(OSError):  # not empty
        os.removedirs(place.parent)


def below(place: Place, root: Place) -> str:
    """The names that lead from a folder to a place in it."""
    if isinstance(place, ObjectPlace) and isinstance(root, ObjectPlace):
        return str(place.relative_to(root))
    return str(Path(str(place)).relative_to(str(root)))


def size_of(place: Place) -> int:
    """Bytes of a file, or of all that is below a folder."""
    if isinstance(place, ObjectPlace):
        inside = [place] if place.told is not None else list(place.rglob("*"))
        return sum(one.stat().st_size for one in inside)
    files = place.rglob("*") if place.is_dir() else [place]
    return sum(file.stat().st_size for file in files if file.is_file())


def told_apart(place: Place) -> str:
    """A text that is another one for another file of the same name."""
    seen = place.stat()
    return seen.e_tag if not isinstance(seen, os.stat_result) else f"{seen.st_ino} {seen.st_mtime_ns}"
