"""Memory whose pages are put there when they are touched: Linux's userfaultfd, which another process serves.

Source: linux/userfaultfd.h; userfaultfd(2), ioctl_userfaultfd(2).
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import mmap
import os
import struct
import sys

PAGE = mmap.PAGESIZE
SYSCALL = {"x86_64": 323, "aarch64": 282}
API, MODE_MISSING, USER_MODE_ONLY = 0xAA, 1, 1
IOCTL_API, IOCTL_REGISTER, IOCTL_COPY = 0xC018AA3F, 0xC020AA00, 0xC028AA03
EVENT_PAGEFAULT = 0x12
MESSAGE = struct.Struct("=B7xQQQ")
"""struct uffd_msg of a page fault: event, flags, address, thread."""
MAP_NORESERVE = 0x4000
KEPT_BYTES = 1 << 26


def open_faults() -> int | None:
    """A descriptor of page faults of this process; None where the system lets no other process serve them.

    Linux alone has them, and a container's profile may forbid them.
    """
    number = SYSCALL.get(os.uname().machine) if sys.platform == "linux" else None
    if number is None:
        return None
    call = ctypes.CDLL(None, use_errno=True).syscall
    for mode in (0, USER_MODE_ONLY):  # without privileges faults within the kernel are not served
        faults = call(number, os.O_CLOEXEC | os.O_NONBLOCK | mode)
        if faults >= 0:
            fcntl.ioctl(faults, IOCTL_API, struct.pack("=QQQ", API, 0, 0))
            return int(faults)
    return None


class Pages(mmap.mmap):
    """Memory of a file's size, of which no page is there yet. It is never given back: see `Pager`."""

    def __new__(cls, size: int) -> Pages:
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_NORESERVE
        pages = super().__new__(cls, -1, _whole(size), flags=flags, prot=mmap.PROT_READ | mmap.PROT_WRITE)
        pages.madvise(mmap.MADV_DONTFORK)  # a forked process would find zeros in it
        return pages

    def size(self) -> int:
        """Bytes there are: what is not a file becomes no shorter."""
        return len(self)

    def madvise(self, option: int, *extent: int) -> None:
        """Advise the system about pages. Those of a file of at most KEPT_BYTES stay where a reader lets go of them:
        they would be fetched again."""
        if option != mmap.MADV_DONTNEED or len(self) > KEPT_BYTES:
            super().madvise(option, *extent)

    @property
    def address(self) -> int:
        return ctypes.addressof(ctypes.c_char.from_buffer(self))


def let_go(address: int, size: int) -> None:
    """Let pages of this process, some Pages of which `address` is the first, be missing again."""
    ctypes.CDLL(None).madvise(ctypes.c_void_p(address), ctypes.c_size_t(_whole(size)), mmap.MADV_DONTNEED)


def serve(faults: int, address: int, size: int) -> None:
    """Let touches of another process's Pages at an address come as faults. Raises OSError."""
    fcntl.ioctl(faults, IOCTL_REGISTER, struct.pack("=QQQQ", address, _whole(size), MODE_MISSING, 0))


def faulted(message: bytes) -> int | None:
    """The address that was touched, of one message; None of other events."""
    event, _, address, _ = MESSAGE.unpack(message)
    return address if event == EVENT_PAGEFAULT else None


def put(faults: int, address: int, content: bytes) -> None:
    """Put bytes where pages of another process are missing; pages that are there stay. Raises OSError."""
    buffer = ctypes.create_string_buffer(content, _whole(len(content)))
    at, end = 0, len(buffer)
    while at < end:
        request = bytearray(struct.pack("=QQQQq", address + at, ctypes.addressof(buffer) + at, end - at, 0, 0))
        try:
            fcntl.ioctl(faults, IOCTL_COPY, request)
            return
        except OSError as refused:
            copied = struct.unpack("=QQQQq", request)[4]
            if refused.errno not in (errno.EEXIST, errno.EAGAIN):
                raise
            at += copied if copied > 0 else (PAGE if refused.errno == errno.EEXIST else 0)


def _whole(size: int) -> int:
    """The bytes of the pages that hold so many."""
    return -(-size // PAGE) * PAGE
