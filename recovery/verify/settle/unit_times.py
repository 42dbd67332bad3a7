"""The store times in a database's units against those of their records, in the order of the log.

Units come queue by queue, and each queue goes through the whole log; so they are first put aside by place, on disk, and
the log is gone through once.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from parsers.rocksdb.queue_table import Units
from recovery.scan.log_access import UNKNOWN, StoredTimes

PARTS, SMALLEST_PART = 64, 1 << 26
AT_ONCE = 1 << 16
ASIDE = np.dtype([("physical_offset", "<i8"), ("store_timestamp_ms", "<i8"), ("queue_offset", "<i8"), ("queue", "<i4")])
Aside = npt.NDArray[np.void]


class UnitTimes:
    """Units of many queues, put aside in a folder of our own: 28 bytes each on disk.

    Memory is bounded by the units of one part of the log, a 64th of it or 64 MiB.
    """

    def __init__(self, folder: Path, log_start: int, log_end: int) -> None:
        self._start = log_start
        self._part_size = max(SMALLEST_PART, -(-(log_end - log_start) // PARTS))
        parts = max(1, -(-(log_end - log_start) // self._part_size))
        self._paths = [folder / f"times-{number}" for number in range(parts)]
        self._files: list[BinaryIO] = [path.open("wb") for path in self._paths]

    def add(self, queue: int, units: Units) -> None:
        """Put units of a queue aside, which is known by this number; those outside the log are left out."""
        part = (units["physical_offset"].astype(np.int64) - self._start) // self._part_size
        inside = (part >= 0) & (part < len(self._paths))
        aside = np.empty(int(inside.sum()), ASIDE)
        for name in ("physical_offset", "store_timestamp_ms", "queue_offset"):
            aside[name] = units[name][inside]
        aside["queue"] = queue
        for number in np.unique(part[inside]).tolist():
            self._files[number].write(aside[part[inside] == number].tobytes())

    def wrong(self, times: StoredTimes) -> dict[int, Aside]:
        """By queue the units, in its order, with another store time than their record's; asked once, at last."""
        found = [wrong for path in self._closed() for wrong in _wrong(np.fromfile(path, ASIDE), times)]
        units = np.concatenate([np.empty(0, ASIDE), *found])
        by_queue = {}
        for queue in np.unique(units["queue"]).tolist():
            by_queue[queue] = np.sort(units[units["queue"] == queue], order="queue_offset")
        return by_queue

    def _closed(self) -> Iterator[Path]:
        for file in self._files:
            file.close()
        yield from self._paths


def _wrong(units: Aside, times: StoredTimes) -> Iterator[Aside]:
    units = units[np.argsort(units["physical_offset"], kind="stable")]
    for first in range(0, len(units), AT_ONCE):
        some = units[first : first + AT_ONCE]
        stored = times.at(some["physical_offset"].astype(np.int64))
        yield some[(stored != some["store_timestamp_ms"]) & (stored != UNKNOWN)]
