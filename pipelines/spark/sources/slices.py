"""How a store is cut into Spark partitions: neighbouring small files together, big ones in pieces."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from pyspark.sql.datasource import InputPartition

from parsers.store.store_file import StoreFile

DEFAULT_SPLIT_BYTES = 256 << 20
MOST_PIECES = 2048
"""Of a slice: reading a file costs a millisecond, however small it is, so that tasks share many small ones."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Bytes [start, end) of one file; the reader of the format decides which records they own.

    `known` is what planning learnt from the whole store and one piece cannot tell.
    """

    file: StoreFile
    start: int
    end: int
    known: tuple[int, ...] = ()


@dataclass
class Slice(InputPartition):
    """What one Spark task reads: pieces in file order."""

    pieces: list[Piece] = field(default_factory=list)

    def __hash__(self) -> int:
        return hash(tuple(self.pieces))


def cut(files: Iterable[StoreFile], split_bytes: int, *, within_files: bool) -> list[Slice]:
    """Slices of about `split_bytes` and at most MOST_PIECES pieces, in file order; a file is cut only where its format
    lets a reader find its feet.

    Raises ValueError when split_bytes is not positive.
    """
    if split_bytes <= 0:
        raise ValueError(f"split_bytes must be positive, not {split_bytes}")
    slices: list[Slice] = []
    filled = 0
    for file in files:
        for piece in _pieces(file, split_bytes if within_files else max(file.size, 1)):
            is_full = not slices or len(slices[-1].pieces) == MOST_PIECES
            if is_full or filled + (piece.end - piece.start) > split_bytes:
                slices.append(Slice())
                filled = 0
            slices[-1].pieces.append(piece)
            filled += piece.end - piece.start
    return slices


def _pieces(file: StoreFile, step: int) -> list[Piece]:
    starts = range(0, max(file.size, 1), step)
    return [Piece(file, start, min(start + step, file.size)) for start in starts]
