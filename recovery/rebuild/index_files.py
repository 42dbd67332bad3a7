"""Write the index files of a new store, batch by batch: what a broker's dispatch leaves in index/."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from io import FileIO
from pathlib import Path

import numpy as np

from parsers.damage.runs import runs
from parsers.index.geometry import Geometry
from parsers.index.layout import ENTRIES_FIRST_NO, INDEX_HEADER
from parsers.kernels.arrays import Bytes, Longs
from recovery.rebuild.index_kernel import ENTRY, HEADER, INDEX_COUNT, PAGE, IndexInWork, put_records
from recovery.rebuild.new_files import write_at
from recovery.rules.versions import BrokerVersion
from recovery.scan.kernel import INVALID, ScanBatch

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LATEST_MS = 253_402_300_799_999  # the end of the year 9999: the last that 17 digits can name


@dataclass(frozen=True, slots=True)
class IndexTotals:
    """One rebuilt index file: its header as written, without the counts' quirk for empty files."""

    name: str
    entries: int
    begin_timestamp_ms: int
    end_timestamp_ms: int
    begin_physical_offset: int
    end_physical_offset: int
    hash_slot_count: int


class IndexFilesWriter:
    """Puts the keys of batches into index files under `root`, rolling as the broker does.

    A file is named after the store time (UTC) of the record that made it necessary, the next free millisecond if that
    name is not later than the one before: brokers take their clock, which no file tells. Entries are appended batch by
    batch, the slots kept until the file is full. Memory: the slots of one file, and the entries of a batch.
    """

    def __init__(self, root: Path, geometry: Geometry, version: BrokerVersion) -> None:
        self._root, self._geometry, self._version = root, geometry, version
        self.totals: list[IndexTotals] = []
        self._name_ms = -1
        self._header = np.zeros(len(INDEX_HEADER.fields), np.int64)
        self._head, self._touched = np.empty(0, np.uint8), np.empty(0, np.bool_)
        self._file: FileIO | None = None

    def write(self, batch: ScanBatch) -> None:
        """Put the keys of the next batch. Raises OSError."""
        row = key_row = 0
        while row < batch.rows:
            if self._file is None:
                row = _first_valid(batch, row)
                if row == batch.rows:
                    return
                key_row = int(batch.records.first_key[row])
                self._roll(int(batch.records.store_timestamp_ms[row]))
            row, key_row = self._put(batch, row, key_row)
            if row < batch.rows:
                self._roll(int(batch.records.store_timestamp_ms[row]))

    def _put(self, batch: ScanBatch, row: int, key_row: int) -> tuple[int, int]:
        """`put_records` into the newest file: where it came to."""
        first = int(self._header[INDEX_COUNT])
        entries = np.empty(ENTRY * (len(batch.keys) - key_row), np.uint8)
        counts_puts = self._version.counts_index_puts_as_slots
        file = IndexInWork(self._head, self._touched, entries, first, self._header, *self._geometry, counts_puts)
        reached = put_records(file, batch.records, batch.keys, row, key_row)
        put = int(self._header[INDEX_COUNT]) - first
        self._write(self._geometry.entries_at + ENTRY * first, entries[: ENTRY * put])
        return reached

    def close(self) -> None:
        """Write the newest file's slots, and its counts as a shutdown does. Raises OSError."""
        if self._file is None:
            return
        header = dict(zip(INDEX_HEADER.offsets, self._header.tolist(), strict=True))
        if header["index_count"] == ENTRIES_FIRST_NO and not self._version.writes_count_of_empty_index:
            header["index_count"] = 0
        self._head[:HEADER] = np.frombuffer(INDEX_HEADER.pack(header), np.uint8)
        self._touched[0] = True
        for start, end in runs(self._touched):
            self._write(start * PAGE, self._head[start * PAGE : end * PAGE])
        self._file.close()
        self._file = None
        entries = int(self._header[INDEX_COUNT]) - ENTRIES_FIRST_NO
        self.totals.append(IndexTotals(index_name(self._name_ms), entries, *self._header[:5].tolist()))

    def _write(self, at: int, data: Bytes) -> None:
        assert self._file is not None, "a file is made before anything is put into it"
        write_at(self._file.fileno(), at, data)

    def _roll(self, store_timestamp_ms: int) -> None:
        self.close()
        self._header = _first_header(self._header)
        self._name_ms = max(min(max(store_timestamp_ms, 0), LATEST_MS), self._name_ms + 1)
        self._root.mkdir(parents=True, exist_ok=True)
        self._file = FileIO(self._root / index_name(self._name_ms), "xb")
        self._file.truncate(self._geometry.file_size)
        self._head = np.zeros(self._geometry.entries_at, np.uint8)
        self._touched = np.zeros(-(-len(self._head) // PAGE), np.bool_)


def _first_header(previous: Longs) -> Longs:
    """The header of a new file: begin and end are the previous file's end, see `IndexFileWriter.create`."""
    end_time, end_physical = max(int(previous[1]), 0), max(int(previous[3]), 0)
    return np.array([end_time, end_time, end_physical, end_physical, 0, ENTRIES_FIRST_NO], np.int64)


def _first_valid(batch: ScanBatch, row: int) -> int:
    valid = np.flatnonzero(batch.records.state[row:] != INVALID)
    return row + int(valid[0]) if len(valid) else batch.rows


def index_name(created_ms: int) -> str:
    """`UtilAll#timeMillisToHumanString` in UTC: yyyyMMddHHmmssSSS."""
    at = EPOCH + timedelta(milliseconds=created_ms)
    return f"{at:%Y%m%d%H%M%S}{created_ms % 1000:03d}"
