"""A store at an address as a folder: what is touched of it is fetched (`pipelines.objects.pager`)."""

from __future__ import annotations

import errno
import json
import mmap
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

from parsers.evidence.supplied import supplied
from pipelines.objects.faults import Pages, open_faults
from pipelines.objects.place import ObjectPlace, StoreRefused
from pipelines.objects.protocols import HOW_WRITTEN, scheme_of
from pipelines.objects.storage import Storage


class _Ended(BaseException):
    """Raised in the main thread, wherever it is, when no more pages come, since the server refused one or the pager has
    ended: what it reads there is nothing."""


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
    scratch = os.path.realpath(tempfile.mkdtemp(prefix="rocketlens-store-"))
    command = [sys.executable, "-m", "pipelines.objects.pager", address, str(theirs.fileno()), scratch]
    with ours, subprocess.Popen(command, pass_fds=[theirs.fileno()]) as serving:
        theirs.close()
        try:
            yield from _served(_Asked(ours), ours, serving)
        finally:
            ours.shutdown(socket.SHUT_RDWR)
            serving.wait()
            shutil.rmtree(scratch, ignore_errors=True)  # it does so itself unless it was killed


def _served(asked: _Asked, ours: socket.socket, serving: subprocess.Popen[bytes]) -> Iterator[Path]:
    folder = Path(asked.first()["folder"])
    by_pages = _send_faults(ours)
    try:
        with _ending(serving), supplied(folder, Fetched(folder, asked, by_pages=by_pages)):
            yield folder
    except _Ended:
        pass
    asked.ask({})  # what the server refused is told now, too, where it reached nobody


def _send_faults(ours: socket.socket) -> bool:
    """Hand the page faults of this process to the pager; False where the system has none.

    This process keeps no descriptor of them: with the pager's they end, and who waits for a page goes on.
    """
    faults = open_faults()
    socket.send_fds(ours, [b"f"], [] if faults is None else [faults])
    if faults is None:
        return False
    os.close(faults)
    return True


@contextmanager
def _ending(serving: subprocess.Popen[bytes]) -> Iterator[None]:
    """Raise _Ended when the pager says so, or has ended."""

    def end(number: int, frame: FrameType | None) -> None:
        if number == signal.SIGUSR1 or serving.poll() is not None:
            raise _Ended
        if callable(earlier := before[signal.Signals(number)]):  # that of another view
            earlier(number, frame)

    before = {number: signal.signal(number, end) for number in (signal.SIGUSR1, signal.SIGCHLD)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _Asked:
    """Questions to the pager, one at a time."""

    def __init__(self, there: socket.socket) -> None:
        self._lines = there.makefile("rwb", buffering=0)
        self._one_at_a_time = threading.Lock()

    def first(self) -> dict[str, Any]:
        """What it says unasked. Raises StoreRefused."""
        with suppress(ConnectionResetError):
            if line := self._lines.readline():
                told = json.loads(line)
                if told.get("refused"):
                    raise StoreRefused(errno.EIO, *told["refused"])
                return dict(told)
        raise StoreRefused(errno.EIO, "the process that fetches it has ended")

    def ask(self, question: dict[str, Any]) -> None:
        """Raises StoreRefused where the server has refused anything by now."""
        with self._one_at_a_time:
            with suppress(BrokenPipeError):
                self._lines.write(json.dumps(question).encode() + b"\n")
            self.first()


class Fetched:
    """The bytes of a folder's files, from the pager. A file is mapped once: its pages are the same for everybody.

    Without `by_pages` a file is fetched whole when it is first mapped.
    """

    def __init__(self, folder: Path, asked: _Asked, *, by_pages: bool) -> None:
        self._folder, self._asked, self._by_pages = folder, asked, by_pages
        self._maps: dict[Path, Pages] = {}
        self._one_at_a_time = threading.Lock()

    def mapped(self, path: Path) -> memoryview:
        size = path.stat().st_size
        if not path.is_file() or not size:
            return memoryview(b"") if path.is_file() else _refuse(path)
        if not self._by_pages:
            self.fill(path)
            with path.open("rb") as file:
                return memoryview(mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ))
        with self._one_at_a_time:
            if (pages := self._maps.get(path)) is None:
                pages = Pages(size)
                self._asked.ask({"map": self._name(path), "address": pages.address, "size": size})
                self._maps[path] = pages
        return memoryview(pages).toreadonly()[:size]

    def fill(self, path: Path) -> None:
        self._asked.ask({"fill": self._name(path)})

    def _name(self, path: Path) -> str:
        return path.relative_to(self._folder).as_posix()


def _refuse(path: Path) -> memoryview:
    raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
