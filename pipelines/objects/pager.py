"""`python -m pipelines.objects.pager SOCKET`: serves the bytes of stores at addresses to the process at the other end
of the socket; when that ends, the folders that stand for them go.

A process of its own: the one that touches a page waits for it with whatever locks it holds.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import sys
import tempfile
import time
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import Any

from pipelines.objects.faults import MESSAGE, PAGE, faulted, put, serve
from pipelines.objects.listing import StoreView, listed, remove_unheld
from pipelines.objects.place import ObjectPlace
from pipelines.objects.protocols import scheme_of
from pipelines.objects.storage import Storage

MOST_BLOCKS = 1 << 7
"""How many blocks are fetched at most where one after another is touched; else it is one."""
RANGE_BYTES = 1 << 22
AT_ONCE = 8
ENDING_TRIES, ENDING_S = 20, 0.05
"""How often, and after how many seconds, it is tried to remove what a reader left that is ending."""
ENDED = signal.SIGUSR1
"""Tells the reader that the server refused: until it asks for the news (`view.NEWS`), such pages are zeros."""

Refused = tuple[str, str | None]
"""What a server, or the system, refused with, and where."""
BLOCK = 1 << 18
LEAST_FREE, SHARE_FREE = 1 << 30, 10
"""What is left free of the disk: so many bytes, and one in so many of all."""


class KeptBlocks:
    """One file with room for all blocks, of which only those that were kept take any, and one byte for each block."""

    def __init__(self, scratch: Path, objects: Mapping[str, ObjectPlace]) -> None:
        counts = {name: -(-objects[name].stat().st_size // BLOCK) for name in sorted(objects)}
        self._first = dict(zip(counts, accumulate(counts.values(), initial=0), strict=False))
        self._blocks, self._there = (_opened(scratch / name) for name in ("blocks", "blocks.there"))

    def read(self, name: str, begin: int, end: int) -> bytes | None:
        """The bytes [begin, end) of an object, of which `begin` is that of a block; None where not all were kept."""
        first, count = self._first[name] + begin // BLOCK, -(-(end - begin) // BLOCK)
        if os.pread(self._there, count, first) != b"\1" * count:
            return None
        return os.pread(self._blocks, end - begin, first * BLOCK)

    def keep(self, name: str, begin: int, content: bytes) -> None:
        """Keep whole blocks of an object, or those at its end, as long as the disk has room."""
        free = os.fstatvfs(self._blocks)
        if free.f_bavail * free.f_frsize < max(LEAST_FREE, free.f_blocks * free.f_frsize // SHARE_FREE):
            return
        first = self._first[name] + begin // BLOCK
        with suppress(OSError):  # no room after all
            if os.pwrite(self._blocks, content, first * BLOCK) == len(content):
                os.pwrite(self._there, b"\1" * -(-len(content) // BLOCK), first)


def _opened(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)


class Served:
    """The objects of one view, whose bytes come from its server, or were kept."""

    def __init__(self, view: StoreView, fetching: ThreadPoolExecutor) -> None:
        self.objects = listed(view)
        self._folder, self._scratch, self._fetching = view.folder, view.scratch, fetching
        self._kept = KeptBlocks(view.scratch, self.objects) if view.is_shared else None
        self._filled: set[str] = set()

    def fetched(self, name: str, begin: int, end: int) -> Iterator[tuple[int, bytes]]:
        """Bytes of an object from the beginning of a block on, in ranges that are asked for side by side."""
        starts = range(begin, end, RANGE_BYTES)
        ranges = self._fetching.map(lambda at: self._range(name, at, min(end, at + RANGE_BYTES)), starts)
        return zip(starts, ranges, strict=True)

    def fill(self, name: str) -> None:
        """Put the bytes of a file, or of all files below a folder, where its name leads."""
        for each in sorted(self.objects):
            if (each == name or each.startswith(f"{name}/")) and each not in self._filled:
                self._fill(each)
                self._filled.add(each)

    def _range(self, name: str, begin: int, end: int) -> bytes:
        if self._kept is None:
            return self.objects[name].read_range(begin, end)
        if (known := self._kept.read(name, begin, end)) is not None:
            return known
        content = self.objects[name].read_range(begin, end)
        self._kept.keep(name, begin, content)
        return content

    def _fill(self, name: str) -> None:
        file, size = self._folder / name, self.objects[name].stat().st_size
        seen = file.stat()
        number, whole = tempfile.mkstemp(dir=self._scratch)
        try:
            with open(number, "wb") as content:
                for begin in range(0, size, BLOCK * MOST_BLOCKS):
                    for _, piece in self.fetched(name, begin, min(size, begin + BLOCK * MOST_BLOCKS)):
                        content.write(piece)
            os.utime(whole, ns=(seen.st_atime_ns, seen.st_mtime_ns))
            os.replace(whole, file)  # at once: others may read it
        finally:
            Path(whole).unlink(missing_ok=True)


@dataclass(slots=True)
class Mapped:
    """A file in the reader's memory, in blocks.

    Attributes:
        there: for each block whether it was put there. The reader may have let go of it since.
        begin, end: the blocks that were fetched last.
        zeros: addresses and sizes of what was refused, of which the reader has not been told.
    """

    served: Served
    name: str
    address: int
    size: int
    there: bytearray = field(init=False)
    begin: int = -2
    end: int = -2
    zeros: list[tuple[int, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.there = bytearray(-(-self.size // BLOCK))

    def taken_zeros(self) -> list[tuple[int, int]]:
        zeros, self.zeros = self.zeros, []
        return zeros

    def wanted(self, at: int) -> tuple[int, int]:
        """What to fetch where the byte at `at` is touched: more, the longer one block is touched after another in
        either direction, and nothing that is there."""
        block, most = at // BLOCK, min(4 * (self.end - self.begin), MOST_BLOCKS)
        if self.there[block]:  # let go of, as a reader of a log does, a window at a time
            near = range(max(0, block - MOST_BLOCKS), min(len(self.there), block + MOST_BLOCKS))
            self.there[near.start : near.stop] = bytes(len(near))
        first, last = block, block + 1
        if block == self.end:
            known = self.there.find(1, last, block + most)
            last = min(len(self.there), block + most) if known < 0 else known
        elif block == self.begin - 1:
            first = max(0, last - most, self.there.rfind(1, 0, block) + 1)
        self.there[first:last] = b"\1" * (last - first)
        self.begin, self.end = first, last
        return first * BLOCK, min(self.size, last * BLOCK)


class Pager:
    """Serves one reader. Memory that a reader has of a file stays its own to the end, so no answer comes too late."""

    def __init__(self, asked: socket.socket, faults: int | None) -> None:
        self._asked, self._faults = asked, faults
        self._views: dict[str, Served] = {}
        self._mapped: list[Mapped] = []
        self._refused: Refused | None = None
        self._fetching = ThreadPoolExecutor(AT_ONCE)

    def serve(self) -> None:
        """Until the reader has gone."""
        lines = self._asked.makefile("rwb", buffering=0)
        waiting = select.poll()
        if self._faults is not None:
            waiting.register(self._faults, select.POLLIN)
        waiting.register(self._asked, select.POLLIN)
        while True:
            for ready, event in waiting.poll():
                if ready == self._faults and event & select.POLLIN:
                    self._serve_fault(self._faults)
                elif ready == self._faults:  # the reader's memory goes first, its descriptors soon
                    waiting.unregister(ready)
                elif line := lines.readline():
                    lines.write(json.dumps(self._answer(json.loads(line))).encode() + b"\n")
                else:
                    return

    def leave(self) -> None:
        """Remove what the reader, killed perhaps, has left. All of its descriptors need not be closed yet."""
        for scratch in map(Path, self._views):
            tries = iter(range(ENDING_TRIES))
            while not remove_unheld(scratch) and next(tries, None) is not None:
                time.sleep(ENDING_S)

    def _answer(self, question: dict[str, Any]) -> dict[str, Any]:
        refused, zeros = self._refused, list[tuple[int, int]]()
        try:
            match question:
                case {"news": _}:
                    zeros, self._refused = [span for each in self._mapped for span in each.taken_zeros()], None
                case {"view": address, "settings": settings, "scratch": scratch, "shared": shared}:
                    storage = Storage(tuple((name, value) for name, value in settings), scheme_of(address) or "")
                    view = StoreView(ObjectPlace.of(address, storage), Path(scratch), is_shared=shared)
                    self._views[scratch] = Served(view, self._fetching)
                case {"end": scratch}:
                    ended = self._views.pop(scratch)
                    self._mapped = [each for each in self._mapped if each.served is not ended]
                case {"of": scratch, "map": name, "address": address, "size": size} if self._faults is not None:
                    serve(self._faults, address, size)
                    self._mapped.append(Mapped(self._views[scratch], name, address, size))
                    self._mapped.sort(key=lambda each: each.address)
                case {"of": scratch, "fill": name}:
                    self._views[scratch].fill(name)
        except OSError as error:
            refused = _told(error)
        return {"refused": refused, "zeros": zeros}

    def _serve_fault(self, faults: int) -> None:
        with suppress(BlockingIOError):
            address = faulted(os.read(faults, MESSAGE.size))
            if address is None:
                return
            before = bisect_right(self._mapped, address, key=lambda each: each.address) - 1
            file = self._mapped[before] if before >= 0 else None
            if file is None or address >= file.address + file.size:  # of a view that has ended
                put(faults, address - address % PAGE, bytes(PAGE))
                return
            begin, end = file.wanted(address - file.address)
            try:
                for at, content in file.served.fetched(file.name, begin, end):
                    put(faults, file.address + at, content)
            except OSError as refused:
                if self._refused is None:
                    self._refused = _told(refused)
                    os.kill(os.getppid(), ENDED)
                file.zeros.append((file.address + begin, end - begin))
                put(faults, file.address + begin, bytes(end - begin))


def _told(refused: OSError) -> Refused:
    return refused.strerror or str(refused), refused.filename


def main(number: str) -> int:
    asked = socket.socket(fileno=int(number))
    try:
        _, faults, _, _ = socket.recv_fds(asked, 1, 1)
        for each in faults:
            os.set_blocking(each, False)
        pager = Pager(asked, next(iter(faults), None))
        try:
            pager.serve()
        finally:
            pager.leave()
    except (BrokenPipeError, ConnectionResetError):
        pass  # the reader has gone
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # ends with its reader
    sys.exit(main(*sys.argv[1:]))
