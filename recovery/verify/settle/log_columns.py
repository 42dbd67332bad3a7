"""The log as the rules see it: the records that need a look, what dispatch makes of them, and totals of all others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from parsers.kernels.arrays import Codes, Ints, Longs, Mask
from parsers.store.store_file import StoreFile
from recovery.scan.log_runs import LogGap

LOST_MESSAGES_MS = 3_600_000
"""How far beyond the log's own store times those of lost messages may lie: a bound of ours."""


class MessageColumns(NamedTuple):
    """Records that some rule has to look at, in physical order; `row` is a record's number in the log, from 0.

    `crc`: what `record_walk.verdict` says.
    """

    row: Longs
    physical_offset: Longs
    total_size: Ints
    sys_flag: Ints
    store_timestamp_ms: Longs
    topic: Ints
    queue_id: Ints
    queue_offset: Longs
    tags_code: Longs
    crc: Codes


class ExpectedUnits(NamedTuple):
    """The units that dispatch makes of records, in physical order; `record` is a row of their `MessageColumns`."""

    record: Longs
    topic: Ints
    queue_id: Ints
    queue_offset: Longs
    message_count: npt.NDArray[np.int16]


class ExpectedKeys(NamedTuple):
    """The index entries that dispatch makes of records, in order; `record` is a row of their `MessageColumns`.

    `owner` is the record's number among those of the log that have keys; `settled` keys have an entry in its place.
    """

    record: Longs
    key_hash: Ints
    owner: Longs
    settled: Mask


@dataclass(frozen=True, slots=True)
class LogColumns:
    """A log: `gaps` are the bytes that are no records, `topics` names by code.

    `records` counts all records, `first_ms` and `latest_ms` are the first one's and the latest of their store times (0
    without records), `end` is the byte after the last record, the log's start when it has none.
    """

    files: tuple[StoreFile, ...]
    messages: MessageColumns
    units: ExpectedUnits
    keys: ExpectedKeys
    topics: tuple[str, ...]
    gaps: tuple[LogGap, ...]
    records: int
    first_ms: int
    latest_ms: int
    end: int

    @property
    def start(self) -> int:
        """The first byte of the log."""
        return log_start(self.files)


def log_start(files: Sequence[StoreFile]) -> int:
    """The first byte of the log's files."""
    return files[0].base_offset or 0 if files else 0
