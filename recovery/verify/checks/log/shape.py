"""How the files of a log lie: which file a byte of the log is in, or would be in."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from parsers.store.store_file import StoreFile
from recovery.verify.findings.finding import Place

FOLDER = "commitlog"
MOST_PLACES = 1 << 10
"""Files that one finding names: damaged numbers can say that more are missing than any disk holds."""


@dataclass(frozen=True, slots=True)
class LogShape:
    """How the log's files lie: their common size, where each starts, and its folder.

    `folder_of_new`: where the broker makes the file that begins at an offset; None where its folders do not take turns.
    """

    file_size: int
    bases: tuple[int, ...]
    sizes: tuple[int, ...]
    folders: tuple[str, ...]
    folder_of_new: Callable[[int], str | None] = lambda base: None

    @classmethod
    def of(cls, files: Sequence[StoreFile], file_size: int, folder_of_new: Callable[[int], str | None]) -> LogShape:
        return cls(
            file_size,
            tuple(file.base_offset or 0 for file in files),
            tuple(file.size for file in files),
            tuple(file.log_folder for file in files),
            folder_of_new,
        )

    def name(self, base: int) -> str:
        """The file of the log that starts there, or would."""
        before = max(0, bisect_right(self.bases, base) - 1)
        folder = self.folders[before] if self.folders else FOLDER
        if base not in self.bases:
            folder = self.folder_of_new(base) or folder
        return f"{folder}/{base:020d}"

    def place(self, physical_offset: int, length: int) -> Place:
        """Bytes of the log in the file they are in, or would be in."""
        base = physical_offset - physical_offset % self.file_size
        known = [found for found in self.bases if found <= physical_offset < found + self.file_size]
        base = known[0] if known else base
        return Place(self.name(base), physical_offset - base, length)

    def places(self, start: int, end: int) -> tuple[Place, ...]:
        """Bytes of the log, file by file, the first MOST_PLACES of them; the whole folder where no file shows how long
        one is."""
        if not self.bases:
            return (Place(self.folder_of_new(start) or FOLDER, 0, 0),)
        found: list[Place] = []
        while start < end and len(found) < MOST_PLACES:
            at = self.place(start, 0)
            length = min(end - start, self.file_size - at.file_pos)
            found.append(Place(at.file, at.file_pos, length))
            start += length
        return tuple(found)
