"""The entries of one index file beside the records they point to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from parsers.extents import data_end
from parsers.index.layout import INDEX_ENTRY
from parsers.index.open import OpenIndex
from recovery.checks.columns import MessageColumns
from recovery.checks.finding import Place
from recovery.checks.index_kernel import written_entries
from recovery.checks.intervals import Longs, Mask, found_at
from recovery.scan_kernel import Ints

FOLDER = "index"


@dataclass(frozen=True, slots=True)
class Entries:
    """The entries of one file, row 0 being entry 1, beside the records they point to."""

    key_hash: Ints
    physical_offset: Longs
    time_diff_s: Ints
    prev_index_no: Ints
    record: Longs
    is_record: Mask

    def __len__(self) -> int:
        return len(self.key_hash)


def read_entries(file: OpenIndex, messages: MessageColumns) -> Entries:
    count = last_written(file)
    view = INDEX_ENTRY.array(file.data.data, at=file.entry_at(1), count=count)
    physical_offset = view["physical_offset"].astype(np.int64)
    record, is_record = found_at(messages.physical_offset, physical_offset)
    return Entries(
        view["key_hash"].astype(np.int32),
        physical_offset,
        view["time_diff_s"].astype(np.int32),
        view["prev_index_no"].astype(np.int32),
        record,
        is_record,
    )


def last_written(file: OpenIndex) -> int:
    """The number of the last entry that is not all zero."""
    return written_entries(file.data[: data_end(file.file.path) + INDEX_ENTRY.size], file.slots)


def record_places(records: Longs, messages: MessageColumns) -> list[Place]:
    """Places of records in the log; the file is named by whoever knows the files."""
    return [Place("", int(messages.physical_offset[at]), int(messages.total_size[at])) for at in records.tolist()]


def entry_places(file: OpenIndex, first_entry: int, count: int) -> tuple[Place, ...]:
    return (Place(name_of(file), file.entry_at(first_entry), count * INDEX_ENTRY.size),)


def name_of(file: OpenIndex) -> str:
    return f"{FOLDER}/{file.file.path.name}"
