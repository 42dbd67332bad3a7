"""A byte range of a CommitLog file and what it is: the row of `commitlog_regions`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from parsers.damage.errors import StoreFormatError

RegionKind = Literal["messages", "blank", "damage", "stale", "unwritten"]


@dataclass(frozen=True, slots=True)
class Region:
    """Bytes `file_pos` to `file_pos + length` of a file. Regions of a file lie end to end and cover it.

    Attributes:
        kind: `messages`: records of the log, one after another; `blank`: the end-of-file record with the rest of the
            file; `damage`: bytes that should be records and are not provably so; `stale`: whole records of another
            place or an earlier life of the file, and what is left of one; `unwritten`: zeros after the log's end.
        records: messages in a run, or records of a stale or damaged range whose sizes are right.
        reason: why, in words; None for messages.
        error: the contradiction behind a damage, None otherwise.
    """

    path: Path
    file_pos: int
    length: int
    kind: RegionKind
    reason: str | None = None
    records: int = 0
    error: StoreFormatError | None = None

    @property
    def end(self) -> int:
        return self.file_pos + self.length
