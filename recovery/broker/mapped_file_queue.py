"""A log or queue as a list of files with a write position: listing, truncating, finding, as MappedFileQueue does.

Nothing here touches a file: deleting is leaving it out of the list and naming it in `deleted`.
Source: MappedFileQueue#doLoad, #truncateDirtyFiles, #findMappedFileByOffset, #getMinOffset @4.4.0 … 5.5.1
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from parsers.values.java import divide, remainder
from recovery.broker.store_folder import Entry
from recovery.rules.passing_settings import PassedBy
from recovery.rules.versions import BrokerVersion

NO_BYTES = memoryview(b"")


class LoadFailed(Exception):
    """`load()` returns false: the broker does not start. `source` names the rule, `evidence` the file; `passed_by`: the
    setting without which it would load."""

    def __init__(self, rule: str, source: str, evidence: str, passed_by: PassedBy | None = None) -> None:
        super().__init__(rule)
        self.rule, self.source, self.evidence, self.passed_by = rule, source, evidence, passed_by


class NameRefused(LoadFailed):
    """A name ends load() with a RuntimeException, which what catches others on the way lets through."""


@dataclass(slots=True)
class LogFile:
    """One mapped file: where it starts in its log, and how far it is written (`wrote_position`).

    A file that starts below 0 can be written to a place before its first byte.
    """

    name: str
    base_offset: int
    size: int
    wrote_position: int
    entry: Entry | None = None
    _stored: memoryview | None = None
    _tail: bytearray | None = None
    _tail_at: int = 0

    @property
    def stored(self) -> memoryview:
        """The file's bytes on disk, mapped when first asked for; empty for a file that is not there yet."""
        if self._stored is None:
            self._stored = NO_BYTES if self.entry is None else self.entry.bytes()
        return self._stored

    @property
    def end_offset(self) -> int:
        return self.base_offset + self.size

    @property
    def was_appended_to(self) -> bool:
        return self._tail is not None

    def append(self, data: bytes) -> None:
        """Write at the write position, over what may lie there from before.

        Before the first byte nothing is written, and the position moves on as if it were.
        """
        at = self.wrote_position
        if at < 0:  # Java: appendMessage catches what ByteBuffer#position throws
            self.wrote_position += len(data)
            return
        if self._tail is None:
            self._tail, self._tail_at = bytearray(), at
        elif at < self._tail_at:
            self._tail, self._tail_at = bytearray(self._on_disk(at, self._tail_at)) + self._tail, at
        self._tail[at - self._tail_at : at - self._tail_at + len(data)] = data
        self.wrote_position = at + len(data)

    def content(self, end: int) -> bytes | memoryview:
        """The first `end` bytes as they would be: what is on disk with what was written over it; none below 0."""
        end = max(end, 0)
        if self._tail is None and len(self.stored) >= end:
            return self.stored[:end]
        tail, tail_at = self._tail or bytearray(), self._tail_at
        after = tail_at + len(tail)
        return (bytes(self._on_disk(0, min(tail_at, end))) + tail + bytes(self._on_disk(after, end)))[:end]

    def _on_disk(self, start: int, end: int) -> bytes:
        """Bytes on disk, zero where the file has none."""
        held = bytes(self.stored[start:end]) if end > start else b""
        return held + bytes(max(end - start - len(held), 0))


@dataclass(slots=True)
class FileList:
    """The files of one log or queue in order, all of `file_size` bytes.

    `left_out`: files that the loader passes over and leaves where they are. A new file of the same name is written
    over theirs (MappedFile#init opens what is there).
    """

    file_size: int
    files: list[LogFile] = field(default_factory=list)
    deleted: list[LogFile] = field(default_factory=list)
    left_out: list[LogFile] = field(default_factory=list)

    @property
    def min_offset(self) -> int:
        """Base of the first file, -1 without files."""
        return self.files[0].base_offset if self.files else -1

    @property
    def max_offset(self) -> int:
        """End of what is written in the last file, 0 without files."""
        return self.files[-1].base_offset + self.files[-1].wrote_position if self.files else 0

    def truncate_to(self, offset: int) -> None:
        """Lower the write position of the file that holds `offset`, delete the later ones; nothing is cleared."""
        kept = []
        for file in self.files:
            if file.end_offset > offset and offset < file.base_offset:
                self.deleted.append(file)
                continue
            if file.end_offset > offset:
                file.wrote_position = remainder(offset, self.file_size)
            kept.append(file)
        self.files = kept

    def delete_last(self) -> None:
        self.deleted.append(self.files.pop())

    def delete_all(self) -> None:
        self.deleted += self.files
        self.files = []

    def find(self, offset: int, *, first_if_missing: bool = False, by_place: bool = False) -> LogFile | None:
        """The file that holds `offset`; without one None, or the first file when asked for.

        Args:
            by_place: the file at the place in the list where `offset` would be if none were missing.
        """
        if not self.files:
            return None
        first, last = self.files[0], self.files[-1]
        if by_place:
            place = divide(offset, self.file_size) - divide(first.base_offset, self.file_size)
            there = self.files[place : place + 1] if place >= 0 else []
            return there[0] if there else (first if first_if_missing else None)
        if first.base_offset <= offset < last.end_offset:
            by_number = divide(offset, self.file_size) - divide(first.base_offset, self.file_size)
            guess = self.files[by_number : by_number + 1] if by_number >= 0 else []
            for file in (*guess, *self.files):
                if file.base_offset <= offset < file.end_offset:
                    return file
        return first if first_if_missing else None


def list_files(listed: FileList, entries: Sequence[Entry], version: BrokerVersion) -> None:
    """Add the files that the loader takes, each written to its end; recovery lowers the last one.

    Raises:
        LoadFailed: a size or a name that this version refuses; the files before it stay in the list.
    """
    file_size = listed.file_size
    for number, entry in enumerate(entries):
        if entry.is_folder and version.skips_folders_among_files:
            continue
        if entry.size == 0 and number == len(entries) - 1 and version.deletes_empty_last_file:
            listed.deleted.append(LogFile(entry.name, 0, 0, 0, entry))
            continue
        if entry.size != file_size:
            if version.stops_listing_at_wrong_size:
                listed.left_out += [
                    LogFile(left.name, left.number, left.size, left.size, left)
                    for left in entries[number:]
                    if left.number is not None and not left.is_folder
                ]
                break
            raise LoadFailed(
                "a file whose size is not the configured one stops the broker from loading",
                "MappedFileQueue#doLoad",
                f"{entry.path}: {entry.size} bytes, configured {file_size}",
            )
        listed.files.append(LogFile(entry.name, _base_offset(entry), file_size, file_size, entry))


def why_left_out(listed: FileList) -> str:
    """Why the files after some place are not in a list that has `left_out`."""
    first = listed.left_out[0]
    return f"{first.name} has {first.size} bytes, configured {listed.file_size}"


def _base_offset(entry: Entry) -> int:
    if entry.number is None:
        raise NameRefused(
            "a file whose name is no number stops the broker from loading",
            "DefaultMappedFile#init (NumberFormatException)",
            f"{entry.path}",
        )
    return entry.number


def file_name(base_offset: int) -> str:
    """`UtilAll#offset2FileName`: twenty digits."""
    return f"{'-' if base_offset < 0 else ''}{abs(base_offset):020d}"
