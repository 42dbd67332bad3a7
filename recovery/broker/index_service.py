"""The index files as a start finds, deletes and goes on writing them, in memory.

Source: IndexService#load, #buildIndex, IndexFile, IndexHeader#load @4.9.8, 5.3.1, 5.3.3, 5.5.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from parsers.index.geometry import Geometry
from parsers.index.layout import ENTRIES_FIRST_NO, INDEX_HEADER
from parsers.kernels.arrays import Longs, Mask
from parsers.values.java import LONG_MAX, LONG_MIN
from recovery.broker.consume_queue import Hang
from recovery.broker.mapped_file_queue import LoadFailed
from recovery.broker.store_folder import Entry
from recovery.rebuild.index_writer import IndexFileWriter, IndexWriter
from recovery.rules.dispatch import DispatchRequest, DispatchRules, InvalidForDispatch, index_keys, parse_number
from recovery.scan.kernel import ScanBatch


class IndexFileNotMade(Exception):
    """No index file can be made: a dispatcher that needs one throws, and its message stays where it is.

    Source: IndexService#getAndCreateLastIndexFile, which then gives back a lock it does not hold
    (IllegalMonitorStateException) @4.9.8, 5.3.1, 5.3.3, 5.5.1.
    """


@dataclass(slots=True)
class IndexHeadWriter(IndexFileWriter):
    """A file's header alone, for a start whose index entries nobody will look at: they are counted, not written."""

    @staticmethod
    def blank(geometry: Geometry) -> bytearray:
        return bytearray(INDEX_HEADER.size)

    def _write_entry(self, key_hash: int, physical_offset: int, store_timestamp_ms: int) -> None:
        pass

    @property
    def room(self) -> int:
        """Entries that it still takes."""
        return max(self.geometry.max_entries - self.index_count, 0)

    def put_many(self, entries: int, physical_offset: int, store_timestamp_ms: int) -> None:
        """Count entries, no more than there is room for; the last of them belongs to this message."""
        if entries:
            self._count(entries, physical_offset, store_timestamp_ms)


@dataclass(slots=True)
class IndexFile:
    """One index file in the broker's list.

    Attributes:
        entry: the file on disk; None for one that this start creates, whose name will be a wall-clock time.
        writer: its contents, once this start puts keys into it.
    """

    geometry: Geometry
    entry: Entry | None
    writer: IndexFileWriter | None = None

    @property
    def name(self) -> str | None:
        return None if self.entry is None else self.entry.name

    def header(self) -> dict[str, int]:
        """The header as the broker holds it: a count of 0 is 1."""
        header = INDEX_HEADER.unpack(self.content(INDEX_HEADER.size))
        return {**header, "index_count": max(header["index_count"], 1)}

    def content(self, end: int) -> bytes:
        """The first `end` bytes; mapping a file extends it to its configured size with zeros.

        A file without entries keeps the count it has on disk until a shutdown of 5.x writes 1.
        """
        if self.writer is not None and (self.entry is None or self.writer.index_count != self.count_on_disk):
            return bytes(self.writer.with_counts(write_empty_count=False)[:end])
        stored = bytes(self.entry.bytes()[:end]) if self.entry is not None else b""
        return stored.ljust(min(end, self.geometry.file_size), b"\0")

    @property
    def count_on_disk(self) -> int:
        """The number the next entry would get without this start."""
        assert self.entry is not None, "asked for files that are on disk"
        stored = bytes(self.entry.bytes()[: INDEX_HEADER.size]).ljust(INDEX_HEADER.size, b"\0")
        return max(INDEX_HEADER.unpack(stored)["index_count"], 1)

    def open_writer(self, file_type: type[IndexFileWriter], *, count_puts: bool) -> IndexFileWriter:
        if self.writer is None:
            data = bytearray(self.content(len(file_type.blank(self.geometry))))
            self.writer = file_type.open(self.geometry, data, count_puts=count_puts)
        return self.writer


@dataclass(slots=True)
class IndexFiles:
    """The index during a start.

    Attributes:
        with_entries: keep the entries that are put, not only the headers (the bytes of every file written to).
        obstructed: no file can be made; then there is none either.
        files: what the broker has in its list, oldest first; files that this start creates come last.
        deleted: files that it deletes at load.
        skipped: names that are no numbers; they stay and are not read.
        unreadable: a folder among the files: listing ends there.
        indexed_twice: physical offsets of messages whose keys the surviving newest file already held.
    """

    geometry: Geometry
    rules: DispatchRules
    with_entries: bool = False
    obstructed: bool = False
    files: list[IndexFile] = field(default_factory=list)
    deleted: list[Entry] = field(default_factory=list)
    skipped: list[Entry] = field(default_factory=list)
    unreadable: Entry | None = None
    indexed_twice: list[int] = field(default_factory=list)
    _chain: IndexWriter | None = None
    _survivor_end: int | None = None

    def load(self, entries: Sequence[Entry], *, clean_exit: bool, index_timestamp_ms: int) -> bool:
        """List the files; after a crash those newer than the checkpoint are deleted. False when a folder is met."""
        for entry in entries:
            try:
                parse_number(entry.name, LONG_MIN, LONG_MAX)
            except InvalidForDispatch as odd:
                if not self.rules.version.skips_odd_index_names:
                    raise LoadFailed(
                        "a file in index/ whose name is no number stops the broker from loading",
                        "IndexService#load (NumberFormatException)",
                        str(entry.path),
                    ) from odd
                self.skipped.append(entry)
                continue
            if entry.is_folder:
                self.unreadable = entry
                return False
            opened = IndexFile(self.geometry, entry)
            if not clean_exit and opened.header()["end_timestamp_ms"] > index_timestamp_ms:
                self.deleted.append(entry)
            else:
                self.files.append(opened)
        return True

    def put(self, request: DispatchRequest) -> None:
        """Index one message, as IndexService#buildIndex.

        Raises:
            IndexFileNotMade: whatever the message holds, where no file can be made.
        """
        if not self.rules.index_enabled:
            return
        if self.obstructed:
            raise IndexFileNotMade("index is no folder")
        chain = self._chain or self._open_chain()
        keys = index_keys(request, self.rules)
        known = len(chain.files)
        if keys and request.physical_offset == self._survivor_end:
            self.indexed_twice.append(request.physical_offset)
        if chain.put(request, keys, rollback=request.transaction_type in self.rules.unindexed) and keys:
            self._survivor_end = None
        self.files += [IndexFile(self.geometry, None, writer) for writer in chain.files[known:]]

    def put_batch(self, batch: ScanBatch, wanted: Mask) -> None:
        """Index the wanted rows of a batch, which are in log order; without entries only."""
        if not self.rules.index_enabled or not wanted.any():
            return
        chain = self._chain or self._open_chain()
        known, records = len(chain.files), batch.records
        entries = np.diff(records.first_key)
        if self._survivor_end is not None:
            again = wanted & (entries > 0) & (records.physical_offset == self._survivor_end)
            self.indexed_twice += records.physical_offset[again].tolist()
        count_rows(chain, records.physical_offset[wanted], records.store_timestamp_ms[wanted], entries[wanted])
        if entries[wanted].any():
            self._survivor_end = None
        self.files += [IndexFile(self.geometry, None, writer) for writer in chain.files[known:]]

    def _open_chain(self) -> IndexWriter:
        """Go on with the newest file; how many were before it does not matter to what follows."""
        if self.geometry.max_entries <= ENTRIES_FIRST_NO:
            raise Hang("IndexService#putKey: files that hold no entry (maxIndexNum) are created again and again")
        count_puts = self.rules.version.counts_index_puts_as_slots
        file_type = IndexFileWriter if self.with_entries else IndexHeadWriter
        newest = [file.open_writer(file_type, count_puts=count_puts) for file in self.files[-1:]]
        if newest and newest[0].index_count > 1:
            self._survivor_end = newest[0].end_physical_offset
        self._chain = IndexWriter(self.geometry, newest, count_puts=count_puts, file_type=file_type)
        return self._chain


def count_rows(chain: IndexWriter, offsets: Longs, times: Longs, entries: Longs) -> None:
    """`IndexWriter.put` without the entries, a file at a time; one by one where offsets do not rise."""
    step = len(offsets) if bool((np.diff(offsets) >= 0).all()) else 1
    for at in range(0, len(offsets), max(step, 1)):
        rows = slice(at, at + step)
        _count_rising(chain, offsets[rows], times[rows], np.cumsum(entries[rows]))


def _count_rising(chain: IndexWriter, offsets: Longs, times: Longs, ends: Longs) -> None:
    """`ends[row]` counts the entries up to and with that row."""
    row = int(np.searchsorted(offsets, chain.last(int(times[0])).end_physical_offset))
    done = int(ends[row - 1]) if row else 0
    while row < len(offsets):
        file = chain.last(int(times[row]))
        assert isinstance(file, IndexHeadWriter)
        limit = min(done + file.room, int(ends[-1]))
        if limit > done:
            first, last = np.searchsorted(ends, (done + 1, limit)).tolist()
            file.put_many(1, int(offsets[first]), int(times[first]))
            file.put_many(limit - done - 1, int(offsets[last]), int(times[last]))
            done = limit
        row = int(np.searchsorted(ends, done, side="right"))
    if np.searchsorted(ends, done) < len(offsets) - 1:
        chain.last(int(times[-1]))  # a message without keys, too, makes a new file after a full one
