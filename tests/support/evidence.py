"""What a folder was before and after, and what was opened for writing in between."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from hashlib import sha256
from pathlib import Path

from tests.support.copies import pieces

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
Opened = list[tuple[str, int]]
_opened: Opened = []
_listening: list[bool] = []


def _hear(event: str, details: tuple[object, ...]) -> None:
    """An audit hook: it cannot be taken away again, so it only listens inside `listen`."""
    if event == "open" and _listening and isinstance(details[0], str | os.PathLike) and isinstance(details[2], int):
        _opened.append((os.fspath(details[0]), details[2]))


@cache
def _install() -> None:
    sys.addaudithook(_hear)


@contextmanager
def listen() -> Iterator[Opened]:
    """Files opened in this process, with their flags."""
    _install()
    _opened.clear()
    _listening.append(True)
    yield _opened
    _listening.clear()


def opened_for_writing(opened: Opened, root: Path) -> list[str]:
    """Those below a folder that could have been written to."""
    return [path for path, flags in opened if flags & WRITING and str(path).startswith(str(root))]


def state(root: Path) -> dict[str, tuple[int, int, int, str]]:
    """Of every path: inode, size, modification time, hash."""
    found = {}
    for path in sorted(root.rglob("*")):
        seen = path.stat()
        content = _hash(path) if path.is_file() else ""
        found[str(path.relative_to(root))] = (seen.st_ino, seen.st_size, seen.st_mtime_ns, content)
    return found


def _hash(path: Path) -> str:
    """Of the bytes outside holes and where they are: where a hole was filled with zeros, it is another one."""
    told = sha256()
    with path.open("rb") as file:
        for at, piece in pieces(file.fileno()):
            told.update(at.to_bytes(8))
            told.update(piece)
    return told.hexdigest()


def close(root: Path) -> None:
    """Take every right to write away."""
    for path in (root, *root.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)


def unlock(root: Path) -> None:
    """Give the rights back, so that the folder can be removed."""
    for path in (root, *root.rglob("*")):
        path.chmod(0o755)
