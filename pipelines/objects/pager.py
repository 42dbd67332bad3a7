"""`python -m pipelines.objects.pager ADDRESS SOCKET FOLDER`: lays out a store at an address below a folder.

It serves the bytes of the files to the process at the other end of the socket; when that ends, the folder goes.
A process of its own: the one that touches a page waits for it with whatever locks it holds.
"""

from __future__ import annotations

import errno
import json
import os
import select
import shutil
import signal
import socket
import sys
from bisect import bisect_right
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pipelines.objects.faults import MESSAGE, faulted, put, serve
from pipelines.objects.place import ObjectPlace
from pipelines.objects.protocols import scheme_of
from pipelines.objects.storage import Storage

BLOCK, MOST_BLOCKS = 1 << 18, 1 << 7
"""Bytes that are fetched where one is touched, and how many such blocks at most where one after another is."""
RANGE_BYTES = 1 << 22
AT_ONCE = 8
ENDED = signal.SIGUSR1
"""Tells the reader that the server refused: from now on pages are zeros."""

Refused = tuple[str, str | None]
"""What a server, or the system, refused with, and where."""


@dataclass(slots=True)
class Mapped:
    """A file in the reader's memory, in blocks.

    Attributes:
        there: for each block whether it was put there. The reader may have let go of it since.
        begin, end: the blocks that were fetched last.
    """

    place: ObjectPlace
    address: int
    size: int
    there: bytearray = field(init=False)
    begin: int = -2
    end: int = -2

    def __post_init__(self) -> None:
        self.there = bytearray(-(-self.size // BLOCK))

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

    def __init__(self, folder: Path, objects: dict[str, ObjectPlace], asked: socket.socket, faults: int | None) -> None:
        self._folder, self._objects, self._asked, self._faults = folder, objects, asked, faults
        self._mapped: list[Mapped] = []
        self._filled: set[str] = set()
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
            for ready, _ in waiting.poll():
                if ready == self._faults:
                    self._serve_fault(self._faults)
                elif line := lines.readline():
                    lines.write(json.dumps(self._answer(json.loads(line))).encode() + b"\n")
                else:
                    return

    def _answer(self, question: dict[str, Any]) -> dict[str, Any]:
        try:
            match question:
                case {"map": name, "address": address, "size": size} if self._faults is not None:
                    serve(self._faults, address, size)
                    self._mapped.append(Mapped(self._objects[name], address, size))
                    self._mapped.sort(key=lambda each: each.address)
                case {"fill": name}:
                    for each in sorted(self._objects):
                        if each == name or each.startswith(f"{name}/"):
                            self._fill(each)
        except OSError as refused:
            return {"refused": _told(refused)}
        return {"refused": self._refused}

    def _serve_fault(self, faults: int) -> None:
        with suppress(BlockingIOError):
            address = faulted(os.read(faults, MESSAGE.size))
            if address is None:
                return
            file = self._mapped[bisect_right(self._mapped, address, key=lambda each: each.address) - 1]
            begin, end = file.wanted(address - file.address)
            try:
                for at, content in self._fetched(file.place, begin, end):
                    put(faults, file.address + at, content)
            except OSError as refused:
                self._refused = self._refused or _told(refused)
                os.kill(os.getppid(), ENDED)
                put(faults, file.address + begin, bytes(end - begin))

    def _fetched(self, place: ObjectPlace, begin: int, end: int) -> Iterator[tuple[int, bytes]]:
        """The bytes, in ranges that are asked for side by side."""
        starts = range(begin, end, RANGE_BYTES)
        ranges = self._fetching.map(lambda at: place.read_range(at, min(end, at + RANGE_BYTES)), starts)
        return zip(starts, ranges, strict=True)

    def _fill(self, name: str) -> None:
        place, file = self._objects[name], self._folder / name
        if name in self._filled:
            return
        seen, size = file.stat(), place.stat().st_size
        with file.open("r+b") as content:
            for begin in range(0, size, BLOCK * MOST_BLOCKS):
                for at, piece in self._fetched(place, begin, min(size, begin + BLOCK * MOST_BLOCKS)):
                    content.seek(at)
                    content.write(piece)
        os.utime(file, ns=(seen.st_atime_ns, seen.st_mtime_ns))
        self._filled.add(name)


def laid_out(address: ObjectPlace, folder: Path) -> dict[str, ObjectPlace]:
    """Lay out every file below an address in a folder: names, sizes and times. Raises OSError."""
    objects = {str(place.relative_to(address)): place for place in address.rglob("*")}
    if not objects:
        raise FileNotFoundError(errno.ENOENT, "nothing is there; an address names the root of a store", str(address))
    folders = {str(above) for name in objects for above in Path(name).parents}
    files = {name: place for name, place in objects.items() if name not in folders}  # some tools keep empty ones
    for name, place in files.items():
        file, seen = folder / name, place.stat()
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
        os.truncate(file, seen.st_size)
        os.utime(file, (seen.st_mtime, seen.st_mtime))
    return files


def _told(refused: OSError) -> Refused:
    return refused.strerror or str(refused), refused.filename


def main(address: str, number: str, scratch: str) -> int:
    asked, root = socket.socket(fileno=int(number)), Path(scratch)
    try:
        place = ObjectPlace.of(address, Storage(scheme=scheme_of(address) or ""))
        folder = root / place.bucket / place.key
        try:
            objects = laid_out(place, folder)
        except OSError as refused:
            asked.sendall(json.dumps({"refused": _told(refused)}).encode() + b"\n")
            return 0
        asked.sendall(json.dumps({"folder": str(folder)}).encode() + b"\n")
        _, faults, _, _ = socket.recv_fds(asked, 1, 1)
        for each in faults:
            os.set_blocking(each, False)
        Pager(folder, objects, asked, next(iter(faults), None)).serve()
    except (BrokenPipeError, ConnectionResetError, ValueError):
        pass  # the reader has gone
    finally:
        shutil.rmtree(root, ignore_errors=True)
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # ends with its reader
    sys.exit(main(*sys.argv[1:]))
