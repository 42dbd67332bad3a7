"""How far an ingest of a broker's files has come."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Amount:
    """Files and their bytes. A file counts once for each table that it is read into."""

    files: int
    size: int

    def __add__(self, other: Amount) -> Amount:
        return Amount(self.files + other.files, self.size + other.size)


@dataclass(frozen=True, slots=True)
class Reading:
    """A table of a broker begins to be read: `here` of its files, after `done` of the broker's, of `of_all`."""

    broker: str
    table: str
    here: Amount
    done: Amount
    of_all: Amount


Progress = Callable[[Reading], None]
