"""Fixed-width structures, declared once: read, write, vectorise and document from one declaration.

Every integer in a store file is signed and big-endian, as Java writes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from struct import Struct
from typing import Literal

import numpy as np
import numpy.typing as npt

from parsers.damage.errors import TruncatedRecord

Buffer = bytes | bytearray | memoryview
Code = Literal["b", "h", "i", "q"]
WIDTHS: Mapping[str, int] = {"b": 1, "h": 2, "i": 4, "q": 8}


@dataclass(frozen=True, slots=True)
class Field:
    """One integer: `code` is struct's letter (b 1, h 2, i 4, q 8 bytes, signed), `meaning` says what it counts."""

    name: str
    code: Code
    meaning: str

    @property
    def width(self) -> int:
        return WIDTHS[self.code]


class Layout:
    """Fields in file order, without gaps.

    Attributes:
        title, source: what the structure is, and the Java class#method that writes it.
        size: bytes of the whole structure.
        offsets: field name -> byte inside the structure.
        dtype: numpy's packed big-endian form of the same fields.
    """

    def __init__(self, title: str, source: str, *fields: Field) -> None:
        self.title, self.source, self.fields = title, source, fields
        self._struct = Struct(">" + "".join(field.code for field in fields))
        self.size = self._struct.size
        self.offsets: dict[str, int] = {}
        at = 0
        for field in fields:
            self.offsets[field.name] = at
            at += field.width
        self.dtype = np.dtype([(field.name, f">i{field.width}") for field in fields])

    def unpack(self, buf: Buffer, at: int = 0) -> dict[str, int]:
        """The fields at byte `at`. Raises TruncatedRecord when fewer than `size` bytes are left there."""
        if at < 0 or len(buf) - at < self.size:
            left = max(0, len(buf) - at)
            raise TruncatedRecord(
                f"{self.title} needs {self.size} bytes", at=at, expected=self.size, actual=left, length=left
            )
        return dict(zip(self.offsets, self._struct.unpack_from(buf, at), strict=True))

    def pack(self, row: Mapping[str, int]) -> bytes:
        return self._struct.pack(*(row[field.name] for field in self.fields))

    def array(self, buf: Buffer, *, at: int = 0, count: int | None = None) -> npt.NDArray[np.void]:
        """A view (no copy) of `count` structures from byte `at`; all that fit whole when `count` is None."""
        fits = max(0, (len(buf) - at) // self.size)
        wanted = fits if count is None else count
        if wanted > fits:
            left = max(0, len(buf) - at)
            raise TruncatedRecord(
                f"{wanted} × {self.title}", at=at, expected=wanted * self.size, actual=left, length=left
            )
        return np.frombuffer(buf, dtype=self.dtype, count=wanted, offset=at)

    def markdown(self) -> str:
        """The table printed into docs/formats."""
        rows = [f"| {self.offsets[f.name]} | {f.width} | `{f.name}` | {f.meaning} |" for f in self.fields]
        head = ["| at | bytes | field | meaning |", "|---|---|---|---|"]
        return "\n".join([f"### {self.title} ({self.size} bytes)", "", f"Source: `{self.source}`", "", *head, *rows])


def native(column: npt.NDArray[np.signedinteger]) -> npt.NDArray[np.signedinteger]:
    """A column of a Layout's dtype in the machine's own byte order, as Arrow wants it."""
    return column.astype(column.dtype.newbyteorder("="))
