"""Write the queue files of a new store, batch by batch: what a broker's dispatch leaves in consumequeue/."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from parsers.consumequeue.layout import CQ_UNIT, PRE_BLANK
from recovery.rebuild.new_files import write_piece
from recovery.rebuild.queue_kernel import BATCH, NO_FILE, NOT_PLACED, UNIT, larger, new_state, pack_units, place_units
from recovery.rules.settings import StoreSettings
from recovery.scan.kernel import ScanBatch
from recovery.scan.queue_numbers import unpack_key
from recovery.scan.topic_table import TopicTable

SPARE_QUEUES = 1 << 12
MAX_NAME_BYTES = 255
WAITING_BYTES = 1 << 23
"""Units wait for so many bytes of all queues: each file is opened once for them, whatever batches they come in."""


@dataclass(frozen=True, slots=True)
class QueueTotals:
    """One rebuilt queue. The last three count units that dispatch did not put at their own place: see `Put`.

    `first_queue_offset` is None for a BatchCQ, whose offsets are in its units. `written` is False for a queue whose
    topic is no name that a folder can have.
    """

    topic: str
    queue_id: int
    is_batch: bool
    units: int
    first_queue_offset: int | None
    max_physical_offset: int
    duplicate: int
    behind: int
    out_of_order: int
    written: bool


class QueueFilesWriter:
    """Appends the units of batches to the queue files under `root`, creating them as the broker does.

    Classic queues go to consumequeue/, BatchCQ ones to batchconsumequeue/. Memory: WAITING_BYTES of units, and those of
    one batch.
    """

    def __init__(self, root: Path, topics: TopicTable, *, file_size: int, batch_file_size: int) -> None:
        self._root, self._topics = root, topics
        self._sizes = (file_size, batch_file_size)
        self._state = new_state(SPARE_QUEUES)
        self._folders: dict[int, Path | None] = {}
        self._waiting: dict[int, tuple[int, list[memoryview]]] = {}
        self._waiting_bytes = 0

    @classmethod
    def of(cls, root: Path, topics: TopicTable, settings: StoreSettings) -> QueueFilesWriter:
        """The writer of a new store's queues, with files of the sizes that the settings say."""
        return cls(
            root,
            topics,
            file_size=settings.consume_queue_file_size,
            batch_file_size=settings.mapped_file_size_batch_consume_queue,
        )

    def write(self, batch: ScanBatch) -> None:
        self._make_room(len(batch.units.record))
        before = self._state.end.copy()
        queue = np.empty(len(batch.units.record), np.int32)
        place_units(self._state, *self._sizes, batch.records, batch.units, queue)
        met = int(self._state.met[0])
        count = np.bincount(queue[queue != NOT_PLACED], minlength=met)
        sizes = count * np.where(self._state.is_batch[:met], BATCH, UNIT)
        ends = np.cumsum(sizes)
        packed = np.empty(int(sizes.sum()), np.uint8)
        pack_units(self._state, batch.records, batch.units, queue, ends - sizes, packed)
        view = memoryview(packed)  # type: ignore[arg-type]
        for number in np.flatnonzero(sizes).tolist():
            end, size = int(ends[number]), int(sizes[number])
            _, pieces = self._waiting.setdefault(number, (int(before[number]), []))
            pieces.append(view[end - size : end])
        self._waiting_bytes += len(packed)
        if self._waiting_bytes >= WAITING_BYTES:
            self._write_waiting()

    def _write_waiting(self) -> None:
        for number, (before, pieces) in self._waiting.items():
            self._append(number, before, memoryview(b"".join(pieces)))
        self._waiting, self._waiting_bytes = {}, 0

    def close(self) -> None:
        """Write what waits, and the files that the broker creates for a unit that it skips where nothing came after."""
        self._write_waiting()
        state = self._state
        for number in np.flatnonzero((state.opened != NO_FILE) & (state.opened == state.end)).tolist():
            folder, size = self._folder(number), self._sizes[False]
            if folder is not None:
                write_piece(folder / f"{int(state.end[number]):020d}", size, 0, b"")

    def totals(self) -> Iterator[QueueTotals]:
        """Every queue met, in the order of its topic's and its own first unit."""
        state, names = self._state, self._topics.names
        for number in range(int(state.met[0])):
            topic, queue_id = unpack_key(int(state.key[number]))
            first, is_batch = int(state.first[number]), bool(state.is_batch[number])
            size = BATCH if is_batch else UNIT
            yield QueueTotals(
                topic=names[topic],
                queue_id=queue_id,
                is_batch=is_batch,
                units=0 if first == NO_FILE else (int(state.end[number]) - first) // size,
                first_queue_offset=None if is_batch or first == NO_FILE else first // UNIT,
                max_physical_offset=int(state.max_physical_offset[number]),
                duplicate=int(state.duplicate[number]),
                behind=int(state.behind[number]),
                out_of_order=int(state.out_of_order[number]),
                written=self._folder(number) is not None,
            )

    def _append(self, number: int, before: int, data: memoryview) -> None:
        folder = self._folder(number)
        if folder is None:
            return
        if before == NO_FILE:
            folder.mkdir(parents=True)
            before = int(self._state.first[number])
            self._pre_blank(number, folder, before)
        size = self._sizes[bool(self._state.is_batch[number])]
        while data:
            base = before - before % size
            fits = min(len(data), base + size - before)
            write_piece(folder / f"{base:020d}", size, before - base, data[:fits])
            before, data = before + fits, data[fits:]

    def _pre_blank(self, number: int, folder: Path, first: int) -> None:
        size = self._sizes[bool(self._state.is_batch[number])]
        if blanks := first % size // UNIT:
            write_piece(folder / f"{first - first % size:020d}", size, 0, CQ_UNIT.pack(PRE_BLANK) * blanks)

    def _folder(self, number: int) -> Path | None:
        if number not in self._folders:
            topic, queue_id = unpack_key(int(self._state.key[number]))
            name = self._topics.names[topic]
            kind = "batchconsumequeue" if self._state.is_batch[number] else "consumequeue"
            self._folders[number] = self._root / kind / name / str(queue_id) if is_folder_name(name) else None
        return self._folders[number]

    def _make_room(self, units: int) -> None:
        most = int(self._state.met[0]) + units
        if most > len(self._state.key):
            self._state = larger(self._state, 2 * most)


def is_folder_name(name: str) -> bool:
    """Whether a topic of the log can be a folder: a damaged record may hold any text."""
    plain = name not in ("", ".", "..") and "/" not in name and "\0" not in name
    return plain and len(os.fsencode(name)) <= MAX_NAME_BYTES
