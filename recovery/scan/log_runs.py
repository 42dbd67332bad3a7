"""The records of a whole log in physical order, in runs that bound memory, with everything that is no record named.

A record belongs to the log when it is well-formed and stands where it says. Where reading goes on after bytes that are
none is decided in `parsers.commitlog.files.salvage`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from parsers.commitlog.compiled.property_scan import ENTRY_END
from parsers.commitlog.compiled.shape import shape_of
from parsers.commitlog.dledger_headers.layout import header_size
from parsers.commitlog.files.logfile import LogFile, open_log
from parsers.commitlog.files.region import Region, RegionKind
from parsers.commitlog.files.salvage import LastMessages, across_break
from parsers.commitlog.files.slices import chained_start, first_proven
from parsers.damage.errors import StoreFormatError, UnreadableFile
from parsers.evidence.mapped import release_pages
from parsers.kernels.arrays import Bytes, Codes, Longs
from parsers.store.store_file import StoreFile
from recovery.scan.record_walk import walk, walk_judging

RECORDS_PER_RUN = 1 << 15


@dataclass(frozen=True, slots=True)
class LogRun:
    """Records that follow one another without a gap: `positions` of their messages in `data`, the whole file; they
    begin at byte `start` and end before byte `end`.

    `crc`: the verdict of `record_walk.verdict` on each of them, empty where none was asked for.
    """

    file: StoreFile
    data: Bytes
    positions: Longs
    end: int
    crc: Codes

    @property
    def base_offset(self) -> int:
        return self.file.base_offset or 0

    @property
    def start(self) -> int:
        return int(self.positions[0]) - header_size(self.file)


@dataclass(frozen=True, slots=True)
class LogGap:
    """Bytes of a log file that are no record of the log: a region of another kind than `messages`.

    `torn_before`: how many of the last bytes of the record before it go with it. That record's body is what its CRC
    says, and what was written over its last properties is seen by nothing else: zeros, where it begins with zeros; and
    before damage properties from one on that is no UTF-8, as a broker writes them.
    """

    file: StoreFile
    file_pos: int
    length: int
    kind: RegionKind
    reason: str = ""
    torn_before: int = 0

    @property
    def physical_offset(self) -> int:
        return (self.file.base_offset or 0) + self.file_pos


GapSink = Callable[[LogGap], None]


def log_runs(files: Sequence[StoreFile], gaps: GapSink, *, releases: bool = True) -> Generator[LogRun, None, None]:
    """Runs of records of the files, which are given in offset order; the rest of their bytes goes to `gaps`.

    Runs and gaps of a file add up to its size. A file that the system refuses is one gap, and so is what is left of one
    that became shorter. With `releases` the pages of a run are given back once the next one is asked for; without, by
    who reads several runs at once.
    """
    for file in files:
        yield from runs_between(file, 0, file.size, gaps, releases=releases)


def runs_between(
    file: StoreFile,
    start: int,
    end: int,
    gaps: GapSink,
    *,
    most: int = RECORDS_PER_RUN,
    crc: bool = False,
    releases: bool = True,
) -> Iterator[LogRun]:
    """The runs of the records of a slice [start, end) of a file, and the gaps after them.

    A run has at most so many records, with `crc` they come with a verdict on their CRCs.
    A slice begins at the first record that proves itself. So slices that a file is cut into, at any bytes, have its
    runs and gaps between them, unless one begins inside a record, or with what an earlier life of the file left: runs
    and gaps then add up to more than the file.
    """
    try:
        log = open_log(file)
    except StoreFormatError as refused:
        if start == 0:
            gaps(LogGap(file, 0, file.size, "damage", refused.problem))
        return
    slice_ = _Slice(file, log, start, log.size if end >= file.size else end)
    try:
        yield from slice_.runs(gaps, most, crc, releases)
    except UnreadableFile as shorter:
        gaps(LogGap(file, slice_.at, slice_.end - slice_.at, "damage", shorter.problem))


@dataclass(slots=True)
class _Slice:
    """Reading one slice of a file: `at` is where the next run or gap begins."""

    file: StoreFile
    log: LogFile
    at: int
    end: int
    start: int = 0
    last: LastMessages = field(default_factory=LastMessages)

    def runs(self, gaps: GapSink, most: int, crc: bool, releases: bool) -> Iterator[LogRun]:
        """Raises UnreadableFile where the file became shorter; nothing from `at` on has been handed on then."""
        log = self.log
        self.start = self.at = first_proven(log, self.at) if self.at else 0
        self.end = first_proven(log, self.end)
        while self.at < self.end:
            log.require_whole()
            began, (positions, verdicts, following) = self.at, self._walked(most, crc)
            self.at = following
            if len(positions):
                yield LogRun(self.file, log.data, positions, following, verdicts)
                if releases:
                    release_pages(log.data, began, following)
            if len(positions) < most and following < self.end:
                regions, self.at = across_break(log, following, self._messages_before(following))
                for region in regions:
                    follows = len(positions) and region.file_pos == following
                    torn = _torn_before(log.data, int(positions[-1]), region) if follows else 0
                    gaps(_gap(self.file, region, torn))

    def _messages_before(self, at: int) -> LastMessages:
        """The last two of the file, which a break near the slice's start does not have in it."""
        if self.last.before >= 0 or self.start == 0 or self.log.is_followed:
            return self.last
        return chained_start(self.log, at)[1]

    def _walked(self, most: int, crc: bool) -> tuple[Longs, Codes, int]:
        """The next records of the slice, one after another, their verdicts, and where they end."""
        log, header = self.log, self.log.header
        positions, verdicts = np.empty(most, np.int64), np.empty(most if crc else 0, np.int8)
        if crc:
            count, following = walk_judging(log.data, self.at, log.base_offset, header, positions, verdicts)
        else:
            count, following = walk(log.data, self.at, log.base_offset, header, positions)
        owned = int(np.searchsorted(positions[:count], self.end + header))
        if owned < count:
            following = int(positions[owned]) - header
        for at in positions[:owned][-2:].tolist():
            self.last = self.last.then(at - header, -1)
        return positions[:owned], verdicts[:owned], following


def _gap(file: StoreFile, region: Region, torn_before: int) -> LogGap:
    """An end-of-file record that is none in the file's last bytes counts as damage."""
    error = region.error
    if error is None:
        return LogGap(file, region.file_pos, region.length, region.kind, region.reason or "", torn_before)
    said = error.problem if error.field is None else f"{error.problem} ({error.field} {error.actual})"
    return LogGap(file, region.file_pos, region.length, "damage", said, torn_before)


def _torn_before(data: Bytes, record_at: int, gap: Region) -> int:
    """How many of the last bytes of the record at `record_at` go with the gap that follows it."""
    properties_at, size = shape_of(data, record_at)[5:]
    properties, end = bytes(data[properties_at : properties_at + size]), gap.file_pos
    if properties_at + size != end:
        return 0
    if gap.kind != "unwritten":
        try:
            properties.decode("utf-8")
        except UnicodeDecodeError as malformed:
            return size - 1 - properties.rfind(bytes([ENTRY_END]), 0, malformed.start)
    return size - len(properties.rstrip(b"\0")) if end < len(data) and data[end] == 0 else 0
