"""One CommitLog file, or a slice of it, to Arrow batches; every byte accounted for on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from parsers.commitlog.batches.arrow import run_to_batch, wanted_bits
from parsers.commitlog.batches.bodies import decompressed_pieces
from parsers.commitlog.batches.schema import schema_of
from parsers.commitlog.batches.slab import Slab, SlabPool
from parsers.commitlog.compiled.columns import (
    CRC_OK,
    I_SYS_FLAG,
    I_TOTAL_SIZE,
    L_PHYSICAL_OFFSET,
    NO,
    RECORD_CRC_OK,
    W_BODY,
    W_CRC,
    W_RECORD_CRC,
    WANTED,
    Asked,
    Limits,
    LogBytes,
)
from parsers.commitlog.compiled.kernel import BLANK, BROKEN, FULL, decode_run
from parsers.commitlog.dledger_headers.entry import EntryChain
from parsers.commitlog.files.check import wrong_crc
from parsers.commitlog.files.logfile import LogFile, open_log
from parsers.commitlog.files.region import Region
from parsers.commitlog.files.salvage import LastMessages, end_of_file, salvage
from parsers.commitlog.files.slices import slice_end, slice_start
from parsers.commitlog.record.properties import PropertyRule
from parsers.damage.errors import DamageSink, StoreFormatError, UnreadableFile, report, unheard
from parsers.kernels.arrays import Longs
from parsers.store.store_file import StoreFile

FIRST_ROWS = 256
"""The first batch is small, so that somebody who looks sees a row at once."""

RegionSink = Callable[[Region], None]


@dataclass(frozen=True, slots=True)
class Decoding:
    """How messages are decoded.

    Attributes:
        verify_crc: compute CRCs where their columns are asked for.
        rule: which parser of properties (see `properties.py`).
        pool: memory to decode into, to share between calls of one thread.
    """

    verify_crc: bool = True
    rule: PropertyRule = "first_separator"
    pool: SlabPool | None = None

    def wanted_bits(self, schema: pa.Schema) -> int:
        """What the decoder is asked for."""
        return wanted_bits(schema) & (-1 if self.verify_crc else ~(W_CRC | W_RECORD_CRC))


PLAIN = Decoding()
WITHOUT_CRC = Decoding(verify_crc=False)


def read_segment(
    file: StoreFile,
    *,
    columns: Sequence[str] | None = None,
    between: tuple[int, int | None] = (0, None),
    decoding: Decoding = PLAIN,
    damage: DamageSink | None = unheard,
    regions: RegionSink | None = None,
) -> Iterator[pa.RecordBatch]:
    """The messages of a file as batches of `schema_of(columns)`, in file order.

    A message whose sizes and own offset are right is a row, whatever its CRCs say (`crc_ok`, `record_crc_ok`).

    Args:
        between: start and end, file positions. A slice owns the records from the first that proves itself at or after
            `start` up to the first that does so at or after `end`: slices that meet give each row and each region once.
        damage, regions: called with each finding and each region, as they are met.

    Raises (or hands to `damage`):
        CorruptRecord, TruncatedRecord, NotThisFormat: the bytes of a break; UnreadableFile: no access to the file, or
        it became shorter since it was opened, and the rest of it is damage.
    """
    schema = schema_of(columns)
    start, end = between
    try:
        log = open_log(file)
    except StoreFormatError as refused:
        report(refused, damage)
        return
    tell = _Teller(log, damage, regions)
    tell.run_from = at = start
    stop_at = log.size if end is None else end
    try:
        at, messages = slice_start(log, start)
        stop_at = log.size if end is None else slice_end(log, end)
    except UnreadableFile as refused:
        tell.cut_off(at, stop_at, refused)
        return
    tell.run_from = at
    pool, wanted = decoding.pool or SlabPool.for_files(log.size), decoding.wanted_bits(schema)
    entries = EntryChain(log.data, log.base_offset, from_start=at == 0) if log.header else None
    walk = _Walk(log, at, stop_at, wanted, decoding.rule == "split", pool, tell, messages, entries)
    for slab, rows in walk.runs():
        if "body_decompressed" in schema.names:
            yield from _with_decompressed(slab, rows, schema, tell)
        else:
            yield run_to_batch(slab, rows, schema, log)
        log.release(walk.at)


def _with_decompressed(slab: Slab, rows: int, schema: pa.Schema, tell: _Teller) -> Iterator[pa.RecordBatch]:
    """The run in as many batches as keep the decompressed bodies of one within bounds."""
    stored = schema_of([name for name in schema.names if name not in ("body", "body_decompressed")] + ["body"])
    whole = run_to_batch(slab, rows, stored, tell.log)
    places = slab.columns.longs[L_PHYSICAL_OFFSET] - tell.log.base_offset
    first = 0
    for end, plain in decompressed_pieces(
        whole["body"], slab.columns.ints[I_SYS_FLAG, :rows], lambda row, error: tell.body(int(places[row]), error)
    ):
        piece = whole.slice(first, end - first)
        columns = [plain if name == "body_decompressed" else piece[name] for name in schema.names]
        batch = pa.RecordBatch.from_arrays(columns, schema=schema)
        del plain, columns
        yield batch
        del batch  # the next body is decompressed without this one
        first = end


@dataclass(slots=True)
class _Teller:
    """Hands out regions end to end, and the findings among them."""

    log: LogFile
    damage: DamageSink | None
    regions: RegionSink | None
    run_from: int = 0
    run_records: int = 0

    def close_run(self, at: int) -> None:
        """The run of messages ends at file position `at`."""
        if self.regions is not None and at > self.run_from:
            self.regions(Region(self.log.path, self.run_from, at - self.run_from, "messages", None, self.run_records))
        self.run_from, self.run_records = at, 0

    def tell(self, region: Region) -> None:
        """A region that is no run of messages."""
        self.close_run(region.file_pos)
        self.run_from = region.end
        if self.regions is not None:
            self.regions(region)
        if region.error is not None:
            error = region.error.in_file(self.log.path)
            error.length = region.length
            report(error, self.damage)

    def cut_off(self, at: int, end: int, refused: UnreadableFile) -> None:
        """Nothing from `at` to `end` can be read any more."""
        refused.at = at
        self.tell(Region(self.log.path, at, end - at, "damage", refused.problem, 0, refused))

    def body(self, at: int, error: StoreFormatError) -> None:
        """A body of a sound message that does not decompress."""
        report(error.in_file(self.log.path, base=at), self.damage)


@dataclass(slots=True)
class _Walk:
    """The state of reading one slice."""

    log: LogFile
    at: int
    stop_at: int
    wanted: int
    split_rule: bool
    pool: SlabPool
    tell: _Teller
    last: LastMessages
    entries: EntryChain | None
    most_rows: int = FIRST_ROWS

    def runs(self) -> Iterator[tuple[Slab, int]]:
        """Decoded runs: a slab and how many of its rows are filled."""
        try:
            yield from self._runs()
        except UnreadableFile as refused:
            self.tell.cut_off(self.at, self.stop_at, refused)
            self.at = self.stop_at
        self.tell.close_run(self.at)

    def _runs(self) -> Iterator[tuple[Slab, int]]:
        body_bytes = 0
        while self.at < self.stop_at:
            self.log.require_whole()
            slab = self.pool.take(body_bytes)
            rows, self.at, stop = self._decode(slab)
            if rows:
                self._account(slab, rows)
                yield slab, rows
            body_bytes = self.log.record_size(self.at) if stop == FULL and self.wanted & W_BODY else 0
            if stop == BLANK:
                self._blank()
            elif stop == BROKEN:
                self._salvage()
            self.most_rows = slab.rows

    def _decode(self, slab: Slab) -> tuple[int, int, int]:
        body_bytes = slab.body_bytes if self.wanted & W_BODY else self.log.size
        limits = Limits(min(self.most_rows, slab.rows), slab.batch_bytes, body_bytes)
        log = self.log
        log_bytes, asked = LogBytes(log.data, log.base_offset, log.header), Asked(self.wanted, self.split_rule)
        rows, at, stop = decode_run(log_bytes, self.at, self.stop_at, limits, asked, slab.columns)
        return rows, at, stop

    def _account(self, slab: Slab, rows: int) -> None:
        """Count the rows into the run of messages, taking out those whose CRCs or entry headers are wrong."""
        places = slab.columns.longs[L_PHYSICAL_OFFSET, :rows] - (self.log.base_offset + self.log.header)
        self.last = self.last.then(int(places[-1]), int(places[-2]) if rows > 1 else -1)
        bad = np.zeros(rows, np.bool_)
        for verdict, bit in ((CRC_OK, WANTED["crc_ok"]), (RECORD_CRC_OK, WANTED["record_crc_ok"])):
            if self.wanted & bit:
                bad |= slab.columns.verdicts[verdict, :rows] == NO
        errors = dict.fromkeys(np.flatnonzero(bad).tolist()) | self._wrong_headers(places, slab)
        counted = 0
        for row in sorted(errors):
            self.tell.run_records += row - counted
            counted = row + 1
            self._bad_record(int(places[row]), errors[row])
        self.tell.run_records += rows - counted

    def _wrong_headers(self, places: Longs, slab: Slab) -> dict[int, StoreFormatError | None]:
        if self.entries is None:
            return {}
        return dict(self.entries.broken(places, slab.columns.ints[I_TOTAL_SIZE, : len(places)]))

    def _bad_record(self, place: int, error: StoreFormatError | None) -> None:
        """A message with a wrong CRC, or what is wrong with the header before it."""
        error = error or wrong_crc(self.log.view, place, self.log.header)
        self.tell.tell(Region(self.log.path, place, self.log.record_size(place), "damage", error.problem, 1, error))

    def _blank(self) -> None:
        found, self.at = end_of_file(self.log, self.at, self.last)
        self.tell.tell(found)

    def _salvage(self) -> None:
        if self.entries is not None:
            self.entries.forget()
        found, self.at = salvage(self.log, self.at, self.last)
        for region in found:
            self.tell.tell(region)


def regions_of(file: StoreFile, *, verify_crc: bool = True, damage: DamageSink = unheard) -> list[Region]:
    """What every byte of a file is: regions end to end, whose lengths add up to its size."""
    found: list[Region] = []
    columns = ["crc_ok", "record_crc_ok"] if verify_crc else ["physical_offset"]
    for _ in read_segment(file, columns=columns, regions=found.append, damage=damage):
        pass
    return found


def log_end(files: Sequence[StoreFile], *, damage: DamageSink = unheard) -> int:
    """The physical offset after the last record of a log, messages and blank records alike; its first byte, or 0,
    where no file has a record. Reads from the last file backwards, as far as a file with a record.

    Source: CommitLog#getMaxOffset after a recovery of an undamaged log @4.9.7, 5.3.3.
    """
    for file in reversed(files):
        for region in reversed(regions_of(file, verify_crc=False, damage=damage)):
            if region.kind in ("messages", "blank"):
                return (file.base_offset or 0) + region.end
    return files[0].base_offset or 0 if files else 0
