"""Files of one log or queue as a row: where they do not join."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from parsers.damage.errors import CorruptRecord, StoreFormatError, TruncatedRecord
from parsers.store.store_file import StoreFile


def holes(files: Sequence[StoreFile]) -> Iterator[tuple[int, int]]:
    """Ranges, first byte and end, between files of one log that no file holds; files in offset order."""
    for before, behind in pairwise(files):
        end, begins = (before.base_offset or 0) + before.size, behind.base_offset or 0
        if end < begins:
            yield end, begins


def sequence_errors(files: Sequence[StoreFile]) -> Iterator[StoreFormatError]:
    """Where files of one log or queue, given in offset order, do not join: gaps, overlaps, wrong sizes, empty files.

    Each file must end where the next begins; the last must be as large as the one before it.
    Source: MappedFileQueue#doLoad (every file has the configured size), #checkSelf @5.3.3.
    """
    for number, file in enumerate(files):
        base_offset = file.base_offset or 0
        if file.size == 0:
            yield TruncatedRecord("a file of 0 bytes", field="file size", actual=0, path=file.path)
        elif number + 1 < len(files):
            follows = files[number + 1].base_offset or 0
            if base_offset + file.size != follows:
                yield CorruptRecord(
                    "the file does not end where the next one begins",
                    at=file.size,
                    field="file size",
                    expected=follows - base_offset,
                    actual=file.size,
                    path=file.path,
                )
        elif number and file.size != files[number - 1].size:
            yield CorruptRecord(
                "the last file has not the size of the one before it",
                at=file.size,
                field="file size",
                expected=files[number - 1].size,
                actual=file.size,
                path=file.path,
            )
