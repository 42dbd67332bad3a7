"""A store at an address as a folder: what is touched of it is fetched (`pipelines.objects.pager`)."""

from __future__ import annotations

import errno
import hashlib
import json
import mmap
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Final

from parsers.evidence.supplied import supplied, supply_of
from pipelines.objects.faults import Pages, let_go, open_faults
from pipelines.objects.listing import LISTING, StoreView, hash_of, held
from pipelines.objects.place import ObjectPlace, StoreRefused

NEWS: Mapping[str, object] = {"news": True}
"""Asks the pager what was refused since this was asked last. The zeros that stand for it are let go of: they are asked
for again when they are touched again."""


class BytesRefused(StoreRefused):
    """No more bytes come of a store that is read as evidence: where, where that is known, and why."""

    def __str__(self) -> str:
        return ": ".join(filter(None, (self.filename, self.strerror)))


class _Ended(BaseException):
    """Raised in the main thread, wherever it is, when no more pages come, since the server refused one or the pager has
    ended: what it reads there is nothing."""


class _Pager:
    """The process that fetches for this one, and the questions to it, one at a time."""

    def __init__(self) -> None:
        self._there, theirs = socket.socketpair()
        command = [sys.executable, "-m", "pipelines.objects.pager", str(theirs.fileno())]
        self._process = subprocess.Popen(command, pass_fds=[theirs.fileno()])
        theirs.close()
        self.by_pages = self._send_faults()
        self._lines = self._there.makefile("rwb", buffering=0)
        self._one_at_a_time = threading.Lock()
        self._main_asks = self._ends_main = self._main_knows = False

    def _send_faults(self) -> bool:
        """Hand the page faults of this process to the pager; False where the system has none.

        This process keeps no descriptor of them: with the pager's they end, and who waits for a page goes on.
        """
        faults = open_faults()
        socket.send_fds(self._there, [b"f"], [] if faults is None else [faults])
        if faults is None:
            return False
        os.close(faults)
        return True

    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def ask(self, question: Mapping[str, object]) -> None:
        """Raises BytesRefused where the server has refused anything since that was last asked (NEWS)."""
        with self._one_at_a_time, suppress(ConnectionError):
            line, self._main_asks = None, threading.current_thread() is threading.main_thread()
            try:
                self._lines.write(json.dumps(question).encode() + b"\n")
                line = self._lines.readline()
            finally:
                self._main_knows |= self._main_asks and not line
                self._main_asks = False
            self._ends_main &= question != NEWS
            if self._ends_main:
                raise _Ended
            if line:
                answer = json.loads(line)
                for address, size in answer["zeros"]:
                    let_go(address, size)
                if refused := answer["refused"]:
                    raise BytesRefused(errno.EIO, *refused)
                return
        raise BytesRefused(errno.EIO, "the process that fetches the bytes of stores at addresses has ended")

    def end_main(self) -> None:
        """Raise _Ended in the main thread, which calls this: once it has its answer, where it waits for one; not where
        it had none, and is told already."""
        if self._main_knows:
            return
        self._ends_main = True
        if not self._main_asks:
            raise _Ended

    def end(self) -> None:
        with suppress(OSError):
            self._there.shutdown(socket.SHUT_RDWR)
        self._lines.close()
        self._there.close()
        self._process.wait()


class _Process:
    """What this process has of views: one pager for all of them, from the first touch on, and who attends to it."""

    def __init__(self) -> None:
        self.pager: _Pager | None = None
        self.views = 0
        self.attended = 0
        self.kept: _Opened | None = None
        self._one_at_a_time = threading.Lock()

    def running(self) -> _Pager:
        """The pager. Raises BytesRefused where nobody would be told that it has ended."""
        with self._one_at_a_time:
            if not self.attended:
                raise BytesRefused(errno.EIO, "bytes of a store at an address are read by the main thread's work only")
            if self.pager is None:
                self.pager = _Pager()
            return self.pager

    def left(self) -> None:
        """A view has ended; the pager ends with the last."""
        self.views -= 1
        if not self.views and self.pager is not None:
            self.pager.end()
            self.pager = None


_HERE: Final = _Process()


class Fetched:
    """The bytes of a view's files, from the pager. A file is mapped once: its pages are the same for everybody.

    Without page faults a file is fetched whole when it is first mapped.
    """

    def __init__(self, view: StoreView, objects: Mapping[str, ObjectPlace]) -> None:
        self._view, self._objects = view, objects
        self._of = str(view.scratch)
        self._is_known = False
        self._maps: dict[Path, Pages] = {}
        self._one_at_a_time = threading.Lock()

    def mapped(self, path: Path) -> memoryview:
        size = path.stat().st_size
        if not path.is_file() or not size:
            return memoryview(b"") if path.is_file() else _refuse(path)
        with self._one_at_a_time:
            pager = self._pager()
            if not pager.by_pages:
                pager.ask({"of": self._of, "fill": self._name(path)})
                with path.open("rb") as file:
                    return memoryview(mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ))
            if (pages := self._maps.get(path)) is None:
                pages = Pages(size)
                pager.ask({"of": self._of, "map": self._name(path), "address": pages.address, "size": size})
                self._maps[path] = pages
        return memoryview(pages).toreadonly()[:size]

    def fill(self, path: Path) -> None:
        with self._one_at_a_time:
            self._pager().ask({"of": self._of, "fill": self._name(path)})

    def told(self, path: Path) -> tuple[int, int, int]:
        if (place := self._objects.get(self._name(path))) is None:
            path.stat()
            return 0, 0, 0
        tag = hashlib.sha256(place.stat().e_tag.encode()).digest()
        return place.stat().st_size, path.stat().st_mtime_ns, int.from_bytes(tag[:7])

    def confirm(self) -> None:
        _confirm()

    def end(self) -> None:
        """What is touched from now on is zeros."""
        if self._is_known and _HERE.pager is not None and not _HERE.pager.has_ended():
            with suppress(BytesRefused):  # that was told, or will be
                _HERE.pager.ask({"end": self._of})

    def _pager(self) -> _Pager:
        pager = _HERE.running()
        if not self._is_known:
            settings, address = self._view.address.storage.settings, str(self._view.address)
            shared = self._view.is_shared
            pager.ask({"view": address, "settings": settings, "scratch": self._of, "shared": shared})
            self._is_known = True
        return pager

    def _name(self, path: Path) -> str:
        return path.relative_to(self._view.folder).as_posix()


class _Opened:
    """A view that this process has open."""

    def __init__(self, view: StoreView) -> None:
        self.view = view
        self._open = ExitStack()
        with ExitStack() as opening:
            objects = opening.enter_context(held(view))
            self.view = replace(view, listing=hash_of((view.scratch / LISTING).read_bytes()))
            fetched = Fetched(view, objects)
            opening.callback(_HERE.left)
            _HERE.views += 1
            opening.callback(fetched.end)
            opening.enter_context(supplied(view.folder, fetched))
            self._open = opening.pop_all()

    def close(self) -> None:
        self._open.close()


@contextmanager
def viewed(address: ObjectPlace, *, is_shared: bool = False) -> Iterator[StoreView]:
    """A folder that stands for what is at an address, as its objects are now; it goes with the block.

    Its bytes are there for what the main thread does or has done; another thread sees names, sizes and times.

    Args:
        is_shared: workers read it too (`at_hand`): what any of them fetched is kept for the others.
    Raises:
        OSError: the server refuses, here or at the end of the block; or there is no room for what is fetched.
    """
    opened = _Opened(StoreView.new(address, is_shared=is_shared))
    try:
        with _attending():
            yield opened.view
    finally:
        opened.close()


@contextmanager
def at_hand(view: StoreView | None) -> Iterator[None]:
    """Let the bytes of a shared view come while the block lasts, in a worker or where the process has it open.

    A worker keeps it open for the next block. For a store in a folder (None) there is nothing to do.

    Raises OSError: the server refuses, here or at the end of the block; or it cannot be laid out. What is touched after
    the block is asked for anew.
    """
    kept = _HERE.kept
    if view is None:
        yield
        return
    if supply_of(view.folder) is not None and (kept is None or kept.view != view):
        with _attending():
            yield
        return
    if kept is None or kept.view != view:
        if kept is not None:
            _HERE.kept = None
            kept.close()
        _HERE.kept = kept = _Opened(view)
    try:
        with _attending():
            yield
    except OSError:
        _HERE.kept = None  # who tries again asks anew
        kept.close()
        raise


@contextmanager
def _attending() -> Iterator[None]:
    """End the block when the pager says so, or has ended. Raises BytesRefused then."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    is_over = False

    def end(number: int, frame: FrameType | None) -> None:
        pager = _HERE.pager
        if not is_over and pager is not None and (number == signal.SIGUSR1 or pager.has_ended()):
            pager.end_main()
        if callable(earlier := before[signal.Signals(number)]):
            earlier(number, frame)

    before = {number: signal.signal(number, end) for number in (signal.SIGUSR1, signal.SIGCHLD)}
    _HERE.attended += 1
    try:
        yield
    except _Ended:
        pass
    except Exception:
        is_over = True
        _confirm()  # what was read as zeros may be what it says
        raise
    finally:
        is_over = True
        _HERE.attended -= 1
        for number, handler in before.items():
            signal.signal(number, handler)
    _confirm()  # what the server refused is told now, too, where it reached nobody


def _confirm() -> None:
    """Raises BytesRefused where zeros may stand for bytes that were touched."""
    if _HERE.pager is not None:
        _HERE.pager.ask(NEWS)


def _refuse(path: Path) -> memoryview:
    raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
