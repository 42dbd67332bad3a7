"""What a store file is at one moment: enough to tell later, from a few bytes, whether it has changed since.

Times alone do not tell. A copy may keep them (`rsync -t`, `cp -p`), and a broker that writes through a map changes them
only when a page is written for the first time since it was last flushed.
"""

from __future__ import annotations

import errno
import os
import zlib
from dataclasses import dataclass

from parsers.damage.errors import StoreFormatError, UnreadableFile
from parsers.evidence.mapped import open_descriptor
from parsers.evidence.supplied import supply_of
from parsers.store.places import is_rocksdb_file
from parsers.store.store_file import StoreFile

PAGE = 4096
LONGEST_ZEROS = (4 << 20) + (1 << 16)
"""A body has 4 MiB at most, unless maxMessageSize says more. Source: MessageStoreConfig#maxMessageSize @5.3.3."""
READ_AT_ONCE = 1 << 16
LOGS = ("commitlog", "dledger")


@dataclass(frozen=True, slots=True)
class FileState:
    """A file at one moment.

    Attributes:
        size, modified_ns, inode: what the system says of it; modified_ns in epoch nanoseconds. The inode of a file
            elsewhere is a number that stands for its content.
        written_until: bytes up to the end of its last written page, by halving; all of a file of no whole pages. In a
            file of a log as many zeros as a message may have (LONGEST_ZEROS) are no end.
        mark: CRC-32 of its first page, of the last written page and of the page after it: where a broker's next record,
            queue unit or index entry changes it.
    """

    size: int
    modified_ns: int
    inode: int
    written_until: int
    mark: int

    def still_holds(self, file: StoreFile) -> bool:
        """Whether the file is as it was. Reads three pages at most; a file that cannot be read is not."""
        try:
            return self == _state(file, self.written_until)
        except UnreadableFile:
            return False


def state_of(file: StoreFile) -> FileState | None:
    """The state of a file now; None for a file that cannot be read."""
    try:
        return _state(file, None)
    except StoreFormatError:
        return None


def _state(file: StoreFile, written_until: int | None) -> FileState:
    try:
        if (supply := supply_of(file.path)) is not None:  # its bytes are those that were listed, or none
            size, modified_ns, content = supply.told(file.path)
            return FileState(size, modified_ns, content, size, 0 if file.kind != "rocksdb" else _mark_of_files(file))
        if file.kind == "rocksdb":
            return _of_database(file)
        place = open_descriptor(file.path)
        try:
            seen = os.fstat(place)
            zeros = LONGEST_ZEROS if file.kind in LOGS else PAGE
            until = _written_until(place, seen.st_size, zeros) if written_until is None else written_until
            return FileState(seen.st_size, seen.st_mtime_ns, seen.st_ino, until, _mark(place, until))
        finally:
            os.close(place)
    except (OSError, ValueError) as refused:  # ValueError: a NUL in the name
        raise UnreadableFile(f"cannot be read: {refused}", path=file.path) from refused


def _mark(place: int, until: int) -> int:
    if until <= PAGE:  # of most queues: the first page is the last written one
        pages = os.pread(place, 2 * PAGE, 0)
        return zlib.crc32(pages, zlib.crc32(pages[:PAGE]))
    mark = zlib.crc32(os.pread(place, PAGE, 0))
    return zlib.crc32(os.pread(place, 2 * PAGE, until - PAGE), mark)


def _written_until(place: int, size: int, zeros: int) -> int:
    """The end of the last page that is not zeros, found by halving: a broker fills a file from its start.

    Fewer zeros than `zeros` in a row are no end: after the body of a message that is all zeros the log goes on.
    """
    low, high = 0, size // PAGE  # pages before `low` are written, those from `high` on are not
    if size % PAGE or (high and _written_page(place, high - 1, PAGE) is not None):
        return size
    while low < high:
        middle = (low + high) // 2
        written = _written_page(place, middle, zeros)
        if written is None:
            high = middle
        else:
            low = written + 1
    return low * PAGE


def _written_page(place: int, page: int, most: int) -> int | None:
    """The first page from `page` on that is not zeros, of so many bytes; None without one. Holes are not read."""
    begin, end = page * PAGE, page * PAGE + most
    while begin < end:
        try:
            begin = max(begin, os.lseek(place, begin, os.SEEK_DATA) // PAGE * PAGE)
        except OSError as refused:
            if refused.errno == errno.ENXIO:  # a hole to the end
                return None
            raise
        content = os.pread(place, max(0, min(end - begin, READ_AT_ONCE)), begin)
        if rest := content.lstrip(b"\0"):
            return (begin + len(content) - len(rest)) // PAGE
        if not content:
            return None
        begin += len(content)
    return None


def _of_database(file: StoreFile) -> FileState:
    """The state of a database: of its folder, with a mark over its files."""
    seen = file.path.stat()
    return FileState(seen.st_size, seen.st_mtime_ns, seen.st_ino, 0, _mark_of_files(file))


def _mark_of_files(file: StoreFile) -> int:
    """A mark over the names, sizes and times of a database's files, and of those elsewhere over their content."""
    inside = sorted(
        (path.name, of_file.st_size, of_file.st_mtime_ns) if supply is None else (path.name, *supply.told(path))
        for supply in (supply_of(file.path),)
        for path in file.path.iterdir()
        if is_rocksdb_file(path.name)
        for of_file in (path.stat(),)
    )
    return zlib.crc32(repr(inside).encode())
