"""Where a key lands in the index: slots, chains, header, rolling, as the broker's classes do it.

Scalar reference of `recovery/rebuild/index_kernel.py`.
Source: IndexFile#putKey, IndexHeader, IndexService#buildIndex,
#retryGetAndCreateIndexFile, #getAndCreateLastIndexFile @4.4.0 … 5.5.1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from parsers.index.geometry import Geometry
from parsers.index.layout import INDEX_ENTRY, INDEX_HEADER, INDEX_SLOT
from parsers.values.java import INT_MAX, divide, index_key_hash, to_int
from recovery.rules.dispatch import DispatchRequest


@dataclass(slots=True)
class IndexFileWriter:
    """One index file in memory. `index_count` is the next entry's number; entry 0 is never used.

    The header is kept as the broker keeps it: the first four fields are in the file when set, the two counts when the
    file is flushed (`with_counts`).
    """

    geometry: Geometry
    data: bytearray
    begin_timestamp_ms: int = 0
    end_timestamp_ms: int = 0
    begin_physical_offset: int = 0
    end_physical_offset: int = 0
    hash_slot_count: int = 0
    index_count: int = 1
    count_puts: bool = False

    @classmethod
    def create(
        cls, geometry: Geometry, previous: IndexFileWriter | None, *, count_puts: bool = False
    ) -> IndexFileWriter:
        """A new file; begin and end are pre-filled from the end of the previous one."""
        new = cls(geometry, cls.blank(geometry), count_puts=count_puts)
        if previous is not None and previous.end_physical_offset > 0:
            new.begin_physical_offset = new.end_physical_offset = previous.end_physical_offset
        if previous is not None and previous.end_timestamp_ms > 0:
            new.begin_timestamp_ms = new.end_timestamp_ms = previous.end_timestamp_ms
        return new

    @staticmethod
    def blank(geometry: Geometry) -> bytearray:
        return bytearray(geometry.file_size)

    @classmethod
    def open(cls, geometry: Geometry, data: bytearray, *, count_puts: bool = False) -> IndexFileWriter:
        """Go on writing an existing file; `data` has the geometry's size."""
        header = INDEX_HEADER.unpack(data)
        return cls(
            geometry,
            data,
            header["begin_timestamp_ms"],
            header["end_timestamp_ms"],
            header["begin_physical_offset"],
            header["end_physical_offset"],
            header["hash_slot_count"],
            header["index_count"] if header["index_count"] > 0 else 1,
            count_puts,
        )

    @property
    def full(self) -> bool:
        return self.index_count >= self.geometry.max_entries

    @property
    def used(self) -> int:
        """Bytes up to the last entry (entry 0's place included)."""
        return self.geometry.entries_at + INDEX_ENTRY.size * self.index_count

    def put(self, key_hash: int, physical_offset: int, store_timestamp_ms: int) -> bool:
        """Put one entry; False when the file is full."""
        if self.full:
            return False
        self._write_entry(key_hash, physical_offset, store_timestamp_ms)
        self._count(1, physical_offset, store_timestamp_ms)
        return True

    def _count(self, entries: int, physical_offset: int, store_timestamp_ms: int) -> None:
        """Move the header past entries of one message."""
        if self.index_count <= 1:
            self.begin_physical_offset, self.begin_timestamp_ms = physical_offset, store_timestamp_ms
        self.index_count += entries
        self.end_physical_offset, self.end_timestamp_ms = physical_offset, store_timestamp_ms

    def _write_entry(self, key_hash: int, physical_offset: int, store_timestamp_ms: int) -> None:
        slot_at = INDEX_HEADER.size + INDEX_SLOT.size * (key_hash % self.geometry.hash_slots)
        previous = INDEX_SLOT.unpack(self.data, slot_at)["newest_entry_no"]
        if previous <= 0 or previous > self.index_count:
            previous = 0
        entry = {
            "key_hash": key_hash,
            "physical_offset": physical_offset,
            "time_diff_s": self._time_diff(store_timestamp_ms),
            "prev_index_no": previous,
        }
        entry_at = self.geometry.entries_at + INDEX_ENTRY.size * self.index_count
        self.data[entry_at : entry_at + INDEX_ENTRY.size] = INDEX_ENTRY.pack(entry)
        self.data[slot_at : slot_at + INDEX_SLOT.size] = INDEX_SLOT.pack({"newest_entry_no": self.index_count})
        if previous == 0 or self.count_puts:
            self.hash_slot_count += 1

    def _time_diff(self, store_timestamp_ms: int) -> int:
        """Seconds since begin; the first entry of a rolled file counts from the previous file's end."""
        if self.begin_timestamp_ms <= 0:
            return 0
        return min(max(divide(store_timestamp_ms - self.begin_timestamp_ms, 1000), 0), INT_MAX)

    def with_counts(self, *, write_empty_count: bool = True) -> bytearray:
        """The file's bytes after a flush; an empty file keeps count 0 unless `write_empty_count` (5.x shutdown)."""
        count = self.index_count if self.index_count > 1 or write_empty_count else 0
        header = {
            "begin_timestamp_ms": self.begin_timestamp_ms,
            "end_timestamp_ms": self.end_timestamp_ms,
            "begin_physical_offset": self.begin_physical_offset,
            "end_physical_offset": self.end_physical_offset,
            "hash_slot_count": to_int(self.hash_slot_count),
            "index_count": count,
        }
        self.data[: INDEX_HEADER.size] = INDEX_HEADER.pack(header)
        return self.data


@dataclass(slots=True)
class IndexWriter:
    """The chain of index files. `on_full` is called with each file as it fills up, before the next one is created."""

    geometry: Geometry
    files: list[IndexFileWriter] = field(default_factory=list)
    count_puts: bool = False
    on_full: Callable[[IndexFileWriter], None] = lambda full: None
    created_at_ms: list[int] = field(default_factory=list)
    file_type: type[IndexFileWriter] = IndexFileWriter

    def put(self, request: DispatchRequest, keys: Sequence[str], *, rollback: bool = False) -> bool:
        """Index one record. False when it was skipped as older than the newest file's end.

        A file is there after every record, keys or not. A record's keys may straddle two files.
        """
        last = self.last(request.store_timestamp_ms)
        if request.physical_offset < last.end_physical_offset:
            return False
        for key in () if rollback else keys:
            key_hash = index_key_hash(key)
            while not last.put(key_hash, request.physical_offset, request.store_timestamp_ms):
                last = self.last(request.store_timestamp_ms)
        return True

    def last(self, store_timestamp_ms: int) -> IndexFileWriter:
        """The file that takes the next entry, a new one when there is none or the newest is full."""
        if self.files and not self.files[-1].full:
            return self.files[-1]
        previous = self.files[-1] if self.files else None
        if previous is not None:
            self.on_full(previous)
        self.files.append(self.file_type.create(self.geometry, previous, count_puts=self.count_puts))
        self.created_at_ms.append(store_timestamp_ms)
        return self.files[-1]
