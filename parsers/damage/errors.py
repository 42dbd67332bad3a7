"""What goes wrong with bytes: one error family for raising, one row for collecting.

Raising and collecting are the same facts in two forms: `Damage.of(error)` is the row of an error. Nothing else leaves a
parser for any bytes whatever; a wrong call is `ValueError` or `TypeError`.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from gzip import BadGzipFile
from pathlib import Path


class StoreFormatError(Exception):
    """The bytes contradict the format. Facts are attributes, so that an error becomes a row.

    Attributes:
        path: the file, or None for bytes in memory.
        at: byte in that file (`file_pos`) where the contradiction starts.
        field: name of the field that disagrees, or of the part that is missing.
        expected, actual: what the format asks for and what is there, as text.
        length: bytes concerned, 0 when unknown.
    """

    def __init__(
        self,
        problem: str,
        *,
        at: int = 0,
        field: str | None = None,
        expected: object = None,
        actual: object = None,
        path: Path | None = None,
        length: int = 0,
    ) -> None:
        super().__init__(problem)
        self.problem, self.at, self.field, self.path, self.length = problem, at, field, path, length
        self.expected = None if expected is None else str(expected)
        self.actual = None if actual is None else str(actual)

    def in_file(self, path: Path, *, base: int = 0) -> StoreFormatError:
        """Return this error with the file it is in and the place where the decoded slice starts in that file."""
        return type(self)(
            self.problem,
            at=self.at + base,
            field=self.field,
            expected=self.expected,
            actual=self.actual,
            path=path,
            length=self.length,
        )

    def __str__(self) -> str:
        place = f"{self.path or 'bytes'} at {self.at}"
        facts = [f"{name} {value}" for name, value in (("expected", self.expected), ("found", self.actual)) if value]
        return f"{place}: {self.problem}" + (f" ({', '.join(facts)})" if facts else "")


class NotThisFormat(StoreFormatError):
    """These bytes are something else: try another reader."""


class TruncatedRecord(StoreFormatError):
    """The record needs more bytes than are left."""


class CorruptRecord(StoreFormatError):
    """A field contradicts the bytes: CRC, size, magic, inner length."""


class UnsupportedVersion(StoreFormatError):
    """A form of this format that is known but not read here."""


class TooLarge(StoreFormatError):
    """More than is read of such a file. A broker may read it: nothing follows for what it makes of it."""


class UnreadableFile(StoreFormatError):
    """The system refuses the bytes: no permission, gone since it was listed, a loop of links, an I/O error."""


def torn_end(problem: str, path: Path, size: int, unit_size: int) -> TruncatedRecord | None:
    """The error of a file of equal units whose last one is cut off; None where all are whole."""
    torn = size % unit_size
    if not torn:
        return None
    return TruncatedRecord(problem, at=size - torn, expected=unit_size, actual=torn, path=path, length=torn)


def why_unreadable(error: Exception) -> str:
    """Why a file could not be read, without Python's names for it."""
    if isinstance(error, StoreFormatError):
        return str(error)
    if isinstance(error, UnicodeError):
        return "not UTF-8 text"
    if isinstance(error, EOFError | zlib.error | BadGzipFile):
        return "the gzip data ends or breaks early"
    if isinstance(error, OSError):
        return error.strerror or "the system refuses it"
    return "a name that no file can have"


@dataclass(frozen=True, slots=True)
class Damage:
    """A range of bytes that could not be read as what it should be: the row form of a `StoreFormatError`."""

    path: Path | None
    file_pos: int
    length: int
    kind: str
    reason: str
    field: str | None = None
    expected: str | None = None
    actual: str | None = None

    @classmethod
    def of(cls, error: StoreFormatError) -> Damage:
        return cls(
            path=error.path,
            file_pos=error.at,
            length=error.length,
            kind=type(error).__name__,
            reason=error.problem,
            field=error.field,
            expected=error.expected,
            actual=error.actual,
        )


DamageSink = Callable[[Damage], None]
"""Takes what a reader could not read. A reader that is given one goes on; without one it raises."""


def unheard(damage: Damage) -> None:
    """The sink of those who read what can be read and have nobody to tell of the rest."""


def report(error: StoreFormatError, sink: DamageSink | None) -> None:
    """Hand the row of the error to `sink` and let the reader go on; without a sink, raise the error."""
    if sink is None:
        raise error
    sink(Damage.of(error))


@contextmanager
def reporting(path: Path, sink: DamageSink | None) -> Iterator[None]:
    """Report an UnreadableFile that is raised inside, as one of that file, and go on after the block."""
    try:
        yield
    except UnreadableFile as refused:
        report(refused.in_file(path), sink)
