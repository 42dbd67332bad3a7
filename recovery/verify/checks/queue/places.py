"""Where the units of one queue lie, or would lie: in files of its own, or in a database with all others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import numpy.typing as npt

from parsers.consumequeue.layout import CQ_UNIT
from parsers.kernels.arrays import Longs
from recovery.scan.intervals import found_at
from recovery.verify.findings.finding import Place

UNIT = CQ_UNIT.size
"""A database as a whole: where in it a unit lies, its files do not tell."""
Kinds = npt.NDArray[np.str_]


class QueuePlaces(Protocol):
    """What the rule about one queue has to know of what keeps it.

    `appends_light`: light queues get their units one after the other, whatever offsets the messages list.
    """

    topic: str
    queue_id: int
    appends_light: bool

    @property
    def whole(self) -> tuple[Place, ...]:
        """All of the queue."""

    def of(self, topic: str, queue_id: int) -> QueuePlaces:
        """Where the units of another queue of the store lie, as far as its files are like these."""

    def places(self, queue_offset: int, count: int) -> tuple[Place, ...]:
        """The bytes of units."""

    def missing_places(self, kind: str, queue_offset: int, count: int) -> tuple[Place, ...]:
        """The bytes where missing units would be."""

    def missing_kinds(self, queue_offset: Longs, physical_offset: Longs, dispatched_to: int) -> Kinds:
        """The kind of finding for each message without a unit, "" where another finding says it."""


@dataclass(slots=True)
class QueueFiles:
    """Files of 20-byte units; `bases` and `sizes` of those that are there."""

    topic: str
    queue_id: int
    file_size: int
    bases: tuple[int, ...]
    sizes: tuple[int, ...]
    appends_light: bool = True

    def of(self, topic: str, queue_id: int) -> QueueFiles:
        return replace(self, topic=topic, queue_id=queue_id)

    @property
    def folder(self) -> str:
        return f"consumequeue/{self.topic}/{self.queue_id}"

    @property
    def whole(self) -> tuple[Place, ...]:
        return (Place(self.folder, 0, 0),)

    def place(self, queue_offset: int, count: int = 1) -> Place:
        """The bytes of units; a run that goes on in the next file is cut at the file's end."""
        at = queue_offset * UNIT
        base = at - at % self.file_size
        length = min(count * UNIT, self.file_size - (at - base))
        return Place(f"{self.folder}/{base:020d}", at - base, length)

    def places(self, queue_offset: int, count: int) -> tuple[Place, ...]:
        """The bytes of units, file by file."""
        found: list[Place] = []
        while count > 0:
            place = self.place(queue_offset, count)
            found.append(place)
            queue_offset, count = queue_offset + place.length // UNIT, count - place.length // UNIT
        return tuple(found)

    def missing_places(self, kind: str, queue_offset: int, count: int) -> tuple[Place, ...]:
        if kind == "queue_missing":
            return (Place(self.folder, 0, count * UNIT),)
        places = self.places(queue_offset, count)
        if kind == "queue_file_missing":
            return tuple(Place(place.file, 0, self.file_size) for place in places)
        return places

    def missing_kinds(self, queue_offset: Longs, physical_offset: Longs, dispatched_to: int) -> Kinds:
        beyond = physical_offset >= dispatched_to
        if not self.bases:
            return np.where(beyond, "not_dispatched_yet", "queue_missing")
        at = queue_offset * UNIT
        base = at - at % self.file_size
        number, has_file = found_at(np.array(self.bases, np.int64), base)
        size = np.where(has_file, np.array(self.sizes, np.int64)[number], self.file_size)
        cut = at - base + UNIT > size
        gone = ~has_file & np.isin(base, base[~beyond])
        return np.select([cut, gone, beyond], ["", "queue_file_missing", "not_dispatched_yet"], "not_dispatched")


@dataclass(slots=True)
class DatabaseQueuePlaces:
    """The database of queues, in `folder`. `is_there`: it has the queue; `is_whole`: its units could all be read."""

    topic: str
    queue_id: int
    folder: str
    is_there: bool = False
    is_whole: bool = True
    appends_light: bool = False

    @property
    def whole(self) -> tuple[Place, ...]:
        return (Place(self.folder, 0, 0),)

    def of(self, topic: str, queue_id: int) -> DatabaseQueuePlaces:
        return self

    def places(self, queue_offset: int, count: int) -> tuple[Place, ...]:
        return (Place(self.folder, 0, 0),)

    def missing_places(self, kind: str, queue_offset: int, count: int) -> tuple[Place, ...]:
        return (Place(self.folder, 0, 0),)

    def missing_kinds(self, queue_offset: Longs, physical_offset: Longs, dispatched_to: int) -> Kinds:
        if not self.is_whole:
            return np.full(len(queue_offset), "")
        known = "not_dispatched" if self.is_there else "queue_missing"
        return np.where(physical_offset >= dispatched_to, "not_dispatched_yet", known)
