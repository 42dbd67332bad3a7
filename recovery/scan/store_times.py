"""The store times of many records of a log at once, by their physical offsets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from parsers.commitlog.compiled.shape import HOST_V6_MORE
from parsers.commitlog.record.layout import HEAD, HOST_V4, STORE_TIME, SYS_FLAG_BORN_HOST_V6
from parsers.damage.errors import StoreFormatError
from parsers.evidence.mapped import map_file, release_pages
from parsers.store.store_file import StoreFile

Longs = npt.NDArray[np.int64]
UNKNOWN = -1
REACH = HEAD.size + HOST_V4.size + HOST_V6_MORE + STORE_TIME.size
"""Bytes from a record's start that are looked at."""


class StoredTimes:
    """Gathers store times from maps opened once. A file that cannot be opened is as good as not there."""

    def __init__(self, files: Sequence[StoreFile]) -> None:
        self._files: list[tuple[int, npt.NDArray[np.uint8]]] = []
        for file in files:
            try:
                self._files.append((file.base_offset or 0, np.frombuffer(map_file(file.path), np.uint8)))
            except StoreFormatError:
                continue

    def at(self, physical_offset: Longs) -> Longs:
        """Store times, epoch ms, of the records that start there; -1 where none says that it stands there."""
        times = np.full(len(physical_offset), UNKNOWN, np.int64)
        for base, data in self._files:
            rows = np.flatnonzero((physical_offset >= base) & (physical_offset <= base + len(data) - REACH))
            places = physical_offset[rows] - base
            own = _longs(data, places + HEAD.offsets["physical_offset"]) == physical_offset[rows]
            rows, places = rows[own], places[own]
            is_v6 = data[places + HEAD.offsets["sys_flag"] + 3] & SYS_FLAG_BORN_HOST_V6 != 0
            times[rows] = _longs(data, places + HEAD.size + HOST_V4.size + is_v6 * HOST_V6_MORE)
            release_pages(data, 0, len(data))
        return times


def _longs(data: npt.NDArray[np.uint8], places: Longs) -> Longs:
    """The big-endian longs at these places."""
    gathered: Longs = data[places[:, None] + np.arange(8)].view(">i8")[:, 0].astype(np.int64)
    return gathered
