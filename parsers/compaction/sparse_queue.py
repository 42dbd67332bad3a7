"""SparseConsumeQueue: the queue of a compacted topic, 46-byte units whose queue offsets have holes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from parsers.consumequeue.batch import BATCH_UNIT, BATCH_UNIT_SCHEMA, Units, read_batch_queue, valid_units
from parsers.consumequeue.summary import FILES_RECOVERED
from parsers.damage.errors import DamageSink, reporting
from parsers.evidence.mapped import map_file
from parsers.store.store_file import StoreFile
from parsers.values.java import to_long

SPARSE_UNIT_SCHEMA = pa.schema(
    [field.with_name("position") if field.name == "physical_offset" else field for field in BATCH_UNIT_SCHEMA]
)
"""`position` is the byte in the log of the same queue."""


def read_sparse_queue(files: Sequence[StoreFile], *, damage: DamageSink | None = None) -> Iterator[pa.RecordBatch]:
    """The units of one queue's files as batches of SPARSE_UNIT_SCHEMA; cf. `read_batch_queue`.

    Each file ends by itself: with a terminator (position -1) where the next one was begun, or unwritten.
    """
    for file in files:
        for batch in read_batch_queue([file], damage=damage):
            yield batch.rename_columns(SPARSE_UNIT_SCHEMA.names)


NO_UNITS: Units = np.empty(0, BATCH_UNIT.dtype)


class FileUnits(NamedTuple):
    """The units of one file as the broker goes through them after a start, in the order of the file."""

    file: StoreFile
    units: Units

    @property
    def valid(self) -> Units:
        return self.units[valid_units(self.units)]


@dataclass(frozen=True, slots=True)
class SparseQueue:
    """One queue as a broker has it after a start."""

    files: tuple[FileUnits, ...]

    @classmethod
    def of(cls, files: Sequence[StoreFile], *, damage: DamageSink | None = None) -> Self:
        """The queue in these files, which are given in offset order; a file that cannot be opened counts as not there.

        Of its last three files a start keeps the units before the first that it refuses; of earlier ones those up to
        the last valid one. Source: SparseConsumeQueue#recover, #getMaxMsgOffset @5.3.3.
        """
        found = []
        for number, file in enumerate(files):
            with reporting(file.path, damage):
                units = BATCH_UNIT.array(map_file(file.path))
                is_recovered = number >= len(files) - FILES_RECOVERED
                found.append(FileUnits(file, units[: _end(valid_units(units), is_recovered)]))
        return cls(tuple(found))

    @property
    def min_queue_offset(self) -> int:
        """The queue offset that the first unit says; -1 where the first file has none.

        Source: BatchConsumeQueue#reviseMinOffsetInQueue @5.3.3.
        """
        units = self.files[0].units if self.files else NO_UNITS
        return int(units[0]["queue_offset"]) if len(units) else -1

    @property
    def max_queue_offset(self) -> int:
        """The one after the last unit of the last file, or of the one before it; 0 where both have none.

        Source: BatchConsumeQueue#reviseMaxOffsetInQueue @5.3.3.
        """
        for held in reversed(self.files[-2:]):
            if len(held.units):
                last = held.units[-1]
                return to_long(int(last["queue_offset"]) + int(last["message_count"]))
        return 0

    @property
    def max_position(self) -> int:
        """The byte after the last message of the last file, where the log is cut; -1 where that file has no unit.

        Source: SparseConsumeQueue#getMaxPhyOffsetInLog @5.1.1.
        """
        last = self.files[-1].units if self.files else NO_UNITS
        return int(last[-1]["physical_offset"]) + int(last[-1]["msg_size"]) if len(last) else -1


def _end(valid: npt.NDArray[np.bool_], is_recovered: bool) -> int:
    if is_recovered:
        return len(valid) if valid.all() else int(np.argmin(valid))
    places = np.flatnonzero(valid)
    return int(places[-1]) + 1 if len(places) else 0
