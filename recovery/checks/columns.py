"""A store as columns: what its log says, what its queues say. What the rules are given, here or from Spark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from parsers.commitlog.columns import NO
from parsers.commitlog.kernel import body_crc_ok, record_crc_verdict
from parsers.commitlog.shape import AT_BODY_CRC, shape_of
from parsers.kernels.bigendian import load_int
from parsers.numba_cache import cached_njit
from parsers.store import StoreFile
from recovery.log_runs import LogGap, log_runs
from recovery.scan import LogScanner, ScanBatch
from recovery.scan_kernel import Bytes, Ints, Longs

Codes = npt.NDArray[np.int8]
CRC_RIGHT, BODY_CRC_WRONG, RECORD_CRC_WRONG = 0, 1, 2


class MessageColumns(NamedTuple):
    """One row per record of the log, in physical order. `crc`: a verdict above."""

    physical_offset: Longs
    total_size: Ints
    sys_flag: Ints
    store_timestamp_ms: Longs
    topic: Ints
    queue_id: Ints
    queue_offset: Longs
    tags_code: Longs
    state: Codes
    crc: Codes


class ExpectedUnits(NamedTuple):
    """One row per unit that dispatch makes of the log, in physical order; `record` is the row of the message."""

    record: Longs
    topic: Ints
    queue_id: Ints
    queue_offset: Longs
    message_count: npt.NDArray[np.int16]


class ExpectedKeys(NamedTuple):
    """One row per index entry that dispatch makes of the log, in order; `record` is the row of the message."""

    record: Ints
    key_hash: Ints


@dataclass(frozen=True, slots=True)
class LogColumns:
    """A whole log. `gaps` are the bytes that are no records; `topics` names by code."""

    files: tuple[StoreFile, ...]
    messages: MessageColumns
    units: ExpectedUnits
    keys: ExpectedKeys
    topics: tuple[str, ...]
    gaps: tuple[LogGap, ...]

    @property
    def start(self) -> int:
        """The first byte of the log."""
        return self.files[0].base_offset or 0 if self.files else 0

    @property
    def end(self) -> int:
        """The byte after the last record; the log's start when it has none."""
        ends = self.messages.physical_offset[-1:] + self.messages.total_size[-1:]
        return int(ends[0]) if len(ends) else self.start


@cached_njit(nogil=True, _nrt=False)
def judge_crcs(data: Bytes, positions: Longs, verdict: Codes) -> None:
    """CRC verdicts of the well-formed records at these file positions."""
    for row in range(len(positions)):
        at = positions[row]
        total_size, body_at, body_size, _, _, _, properties_size = shape_of(data, at)
        verdict[row] = CRC_RIGHT
        if body_size > 0 and not body_crc_ok(data, body_at, body_size, load_int(data, at + AT_BODY_CRC)):
            verdict[row] = BODY_CRC_WRONG
        elif properties_size > 0 and record_crc_verdict(data, at, total_size) == NO:
            verdict[row] = RECORD_CRC_WRONG


@dataclass(slots=True)
class _Collected:
    messages: list[tuple[npt.NDArray[np.generic], ...]] = field(default_factory=list)
    units: list[tuple[npt.NDArray[np.generic], ...]] = field(default_factory=list)
    keys: list[tuple[npt.NDArray[np.generic], ...]] = field(default_factory=list)
    rows: int = 0

    def add(self, batch: ScanBatch, crc: Codes) -> None:
        records = batch.records
        names = MessageColumns._fields[:-1]
        self.messages.append((*(getattr(records, name) for name in names), crc))
        self.units.append((batch.units.record + self.rows, *(column.copy() for column in batch.units[1:])))
        owners = np.repeat(np.arange(self.rows, self.rows + batch.rows, dtype=np.int32), np.diff(records.first_key))
        self.keys.append((owners, batch.keys.copy()))
        self.rows += batch.rows


def read_log(files: Sequence[StoreFile], scanner: LogScanner) -> LogColumns:
    """The columns of a log's files, given in offset order. Every body is compared with its CRC.

    A thread aside scans one run while this one judges its CRCs and finds the records of the next.
    """
    gaps: list[LogGap] = []
    collected, before = _Collected(), None
    with ThreadPoolExecutor(max_workers=1) as aside:
        for run in log_runs(files, gaps.append):
            batch, crc = aside.submit(scanner.scan, run.data, run.positions), np.empty(len(run.positions), np.int8)
            judge_crcs(run.data, run.positions, crc)
            if before is not None:
                collected.add(before[0].result(), before[1])
            before = batch, crc
        if before is not None:
            collected.add(before[0].result(), before[1])
    return LogColumns(
        files=tuple(files),
        messages=MessageColumns._make(_columns(collected.messages, MESSAGE_TYPES)),
        units=ExpectedUnits._make(_columns(collected.units, UNIT_TYPES)),
        keys=ExpectedKeys._make(_columns(collected.keys, KEY_TYPES)),
        topics=tuple(scanner.topics.names()),
        gaps=tuple(gaps),
    )


LONG, INT, SHORT, BYTE = np.int64, np.int32, np.int16, np.int8
MESSAGE_TYPES = (LONG, INT, INT, LONG, INT, INT, LONG, LONG, BYTE, BYTE)
UNIT_TYPES = (LONG, INT, INT, LONG, SHORT)
KEY_TYPES = (INT, INT)


def _columns(
    batches: list[tuple[npt.NDArray[np.generic], ...]], types: tuple[type[np.generic], ...]
) -> Iterator[npt.NDArray[np.generic]]:
    if not batches:
        yield from (np.empty(0, kind) for kind in types)
        return
    with ThreadPoolExecutor(max_workers=2) as copying:
        yield from copying.map(np.concatenate, zip(*batches, strict=True))
