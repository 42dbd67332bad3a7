"""Read-only maps of store files: the only way bytes of evidence are reached.

A map of a file that somebody else cuts short ends the process where the lost bytes are touched (SIGBUS). A broker never
does that: it deletes whole files, whose bytes stay while they are mapped. A copy that is written over does, so readers
ask before every batch (`require_whole`); what is lost within the milliseconds of one batch still ends the process.
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import stat
from collections.abc import Callable
from functools import cache
from io import BufferedReader, FileIO
from pathlib import Path
from typing import TYPE_CHECKING, cast

from parsers.damage.errors import UnreadableFile
from parsers.evidence.supplied import supply_of
from parsers.layouts.fastjson import MAX_BYTES

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Bytes = npt.NDArray[np.uint8]


WRITTEN_ANEW = (".json", ".bak")
"""Ends of the names of files that a running broker cuts to nothing and writes anew: they are read, not mapped, unless
they are longer than anything of them is decoded (MAX_BYTES).
Source: MixAll#string2File, #string2FileNotSafe @4.9.7, 5.3.3."""


MAP_FIXED = 0x10
"""Of sys/mman.h, which Python's mmap does not name: exactly there, over what is mapped there."""


def open_evidence(path: Path) -> FileIO:
    """A file for reading, unbuffered. A pipe in a file's place holds nobody up. Raises OSError."""
    return open(path, "rb", buffering=0, opener=lambda name, flags: open_descriptor(name))


def open_descriptor(path: Path | str) -> int:
    """A descriptor for reading, for who looks at thousands of files; a pipe in a file's place holds nobody up.

    Raises OSError, ValueError.
    """
    if (supply := supply_of(path)) is not None:
        supply.fill(Path(path))
    return os.open(path, os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NONBLOCK", 0))


def read_at(path: Path, at: int, most: int) -> bytes:
    """Some bytes of a file from a position on, fewer where it ends. Raises OSError, ValueError."""
    if (supply := supply_of(path)) is not None:
        return bytes(supply.mapped(path)[at : at + most])
    file = open_descriptor(path)
    try:
        return os.pread(file, most, at)
    finally:
        os.close(file)


def read_small(path: Path, most: int) -> bytes:
    """A file that a user names, whole.

    Raises OSError, too for what is no file (a pipe nobody writes to would count as empty), and beyond `most` bytes.
    """
    with open_evidence(path) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "a pipe, device or socket, no file; copy what it says to a file", str(path))
        content = BufferedReader(file).read(most + 1)
    if len(content) > most:
        raise OSError(errno.EFBIG, f"more than {most} bytes, which are all that is read of such a file", str(path))
    return content


def map_file(path: Path) -> memoryview:
    """The whole file as read-only bytes, nothing copied but of files in WRITTEN_ANEW; empty for a file of 0 bytes.

    The map lives as long as a view of it does. Raises UnreadableFile where the system refuses (missing, no permission,
    a folder, a loop of links), so that one closed file becomes a `Damage` row and the others are still read.
    """
    try:
        if (supply := supply_of(path)) is not None:
            return supply.mapped(path)
        with open_evidence(path) as file:
            size = file.seek(0, 2)
            if size == 0:
                return memoryview(b"")
            if path.suffix in WRITTEN_ANEW and size <= MAX_BYTES:
                file.seek(0)
                return memoryview(BufferedReader(file).read(MAX_BYTES + 1))
            return memoryview(mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ))
    except (OSError, ValueError) as refused:  # ValueError: a NUL in the name
        why = refused.strerror if isinstance(refused, OSError) and refused.strerror else str(refused)
        raise UnreadableFile(f"cannot be read: {why}", path=path) from refused


def map_extended(path: Path, size: int) -> memoryview:
    """A file as who maps `size` bytes of it has it once it is that long: zeros behind its end, nothing copied.

    Raises UnreadableFile.
    """
    whole = map_file(path)
    if not 0 < len(whole) < size:
        return whole
    extended = _Extended(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    try:
        extended.begin_with(path, len(whole))
    except OSError as refused:
        raise UnreadableFile(f"cannot be read: {refused.strerror}", path=path) from refused
    return memoryview(extended).toreadonly()


class _Extended(mmap.mmap):
    """Zeros, over whose beginning a file is mapped."""

    _path: Path
    _length: int

    def begin_with(self, path: Path, length: int) -> None:
        """Map the file there; it goes with the rest. The system fills its last page with zeros. Raises OSError."""
        self._path, self._length = path, length
        address = ctypes.addressof(ctypes.c_char.from_buffer(self))
        with open_evidence(path) as file:
            put = _mmap()(address, length, mmap.PROT_READ, mmap.MAP_PRIVATE | MAP_FIXED, file.fileno(), 0)
        if put != address:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))

    def size(self) -> int:
        """All of it, unless the file became shorter since; one that was deleted stays as it is mapped."""
        try:
            left = self._path.stat().st_size
        except OSError:
            return len(self)
        return len(self) if left >= self._length else left


def require_whole(data: memoryview | Bytes) -> None:
    """Raise UnreadableFile where the file under a map is shorter by now: touching its lost bytes ends the process.

    `at` is the file's end. Bytes that are no map are never short.
    """
    owner = _map_behind(data)
    if owner is not None and (left := owner.size()) < len(owner):
        raise UnreadableFile(
            "became shorter while it was read", at=left, field="file size", expected=len(owner), actual=left
        )


def release_pages(data: Bytes, begin: int, end: int) -> None:
    """Let the system drop the pages of a map from the one with byte `begin` to before the one with byte `end`.

    They can be read again, and are not counted as ours. `data` is a whole file's bytes, from position 0; bytes that are
    no map are left alone. A map that has a `madvise` of its own decides by it. Of any other map the system is asked
    directly, so that other threads go on meanwhile: `mmap.madvise` keeps the interpreter.
    """
    owner = _map_behind(data)
    first, last = begin - begin % mmap.PAGESIZE, end - end % mmap.PAGESIZE
    if owner is None or last <= first:
        return
    if type(owner).madvise is mmap.mmap.madvise:
        _madvise()(data.ctypes.data + first, last - first, mmap.MADV_DONTNEED)
    else:
        owner.madvise(mmap.MADV_DONTNEED, first, last - first)


@cache
def _madvise() -> Callable[[int, int, int], int]:
    call = ctypes.CDLL(None).madvise
    call.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    return cast("Callable[[int, int, int], int]", call)


@cache
def _mmap() -> Callable[[int, int, int, int, int, int], int]:
    call = ctypes.CDLL(None, use_errno=True).mmap
    call.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    call.restype = ctypes.c_void_p
    return cast("Callable[[int, int, int, int, int, int], int]", call)


def _map_behind(data: memoryview | Bytes) -> mmap.mmap | None:
    owner: object = data
    while (base := getattr(owner, "base", None)) is not None:  # of an array, without loading its library here
        owner = base
    owner = owner.obj if isinstance(owner, memoryview) else owner
    return owner if isinstance(owner, mmap.mmap) else None
