"""A store at an address as a folder: what is touched of it is fetched (`pipelines.objects.pager`)."""

from __future__ import annotations

import errno
import json
import mmap
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from parsers.evidence.supplied import supplied
from pipelines.objects.faults import Pages, open_faults
from pipelines.objects.place import ObjectPlace, StoreRefused
from pipelines.objects.protocols import HOW_WRITTEN, scheme_of
from pipelines.objects.storage import Storage


class _Ended(BaseException):
    """Raised in the main thread, wherever it is, when the server refused a page: what it reads there is nothing."""


@contextmanager
def viewed(address: str) -> Iterator[Path]:
    """A folder that stands for the store at an address, as its objects are now; it goes with the block.

    For the main thread alone.

    Raises:
        ValueError: the address is none; one sentence.
        OSError: the server refuses, here or at the end of the block; or there is no room for what is fetched.
    """
    scheme = scheme_of(address)
    if scheme is None:
        raise ValueError(f"{address!r}: the address of a store is written {HOW_WRITTEN}")
    ObjectPlace.of(address, Storage(scheme=scheme))
    ours, theirs = socket.socketpair()
    command = [sys.executable, "-m", "pipelines.objects.pager", address, str(theirs.fileno())]
    with ours, subprocess.Popen(command, pass_fds=[theirs.fileno()]) as serving:
        theirs.close()
        try:
            yield from _served(_Asked(ours), ours)
        finally:
            ours.shutdown(socket.SHUT_RDWR)
            serving.wait()


def _served(asked: _Asked, ours: socket.socket) -> Iterator[Path]:
    folder = Path(asked.first()["folder"])
    faults = open_faults()
    try:
        socket.send_fds(ours, [b"f"], [] if faults is None else [faults])
        before = signal.signal(signal.SIGUSR1, _end)
        try:
            with supplied(folder, Fetched(folder, asked, faults)):
                yield folder
        except _Ended:
            pass
        finally:
            signal.signal(signal.SIGUSR1, before)
        asked.ask({})  # what the server refused is told now, too, where it reached nobody
    finally:
        if faults is not None:
            os.close(faults)


def _end(number: int, frame: FrameType | None) -> None:
    raise _Ended


class _Asked:
    """Questions to the pager, one at a time."""

    def __init__(self, there: socket.socket) -> None:
        self._lines = there.makefile("rwb", buffering=0)
        self._one_at_a_time = threading.Lock()

    def first(self) -> dict[str, Any]:
        """What it says unasked. Raises StoreRefused."""
        line = self._lines.readline()
        told = json.loads(line) if line else {"refused": ["the process that fetches it has ended", None]}
        if told.get("refused"):
            raise StoreRefused(errno.EIO, *told["refused"])
        return dict(told)

    def ask(self, question: dict[str, Any]) -> None:
        """Raises StoreRefused where the server has refused anything by now."""
        with self._one_at_a_time:
            self._lines.write(json.dumps(question).encode() + b"\n")
            self.first()


class Fetched:
    """The bytes of a folder's files, from the pager. A file is mapped once: its pages are the same for everybody.

    Without page faults a file is fetched whole when it is first mapped.
    """

    def __init__(self, folder: Path, asked: _Asked, faults: int | None) -> None:
        self._folder, self._asked, self._faults = folder, asked, faults
        self._maps: dict[Path, Pages] = {}
        self._one_at_a_time = threading.Lock()

    def mapped(self, path: Path) -> memoryview:
        size = path.stat().st_size
        if not path.is_file() or not size:
            return memoryview(b"") if path.is_file() else _refuse(path)
        if self._faults is None:
            self.fill(path)
            with path.open("rb") as file:
                return memoryview(mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ))
        with self._one_at_a_time:
            if (pages := self._maps.get(path)) is None:
                pages = Pages(self._faults, size)
                self._asked.ask({"map": self._name(path), "address": pages.address, "size": size})
                self._maps[path] = pages
        return memoryview(pages).toreadonly()[:size]

    def fill(self, path: Path) -> None:
        self._asked.ask({"fill": self._name(path)})

    def _name(self, path: Path) -> str:
        return path.relative_to(self._folder).as_posix()


def _refuse(path: Path) -> memoryview:
    raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
