"""Entries of a DLedger log that follow one another: whose header does not fit between its neighbours."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from parsers.commitlog.dledger_headers.entry import RIGHT, UNKNOWN, Judged, Longs, header_error, judge_headers
from parsers.damage.errors import StoreFormatError
from parsers.kernels.blocks import Bytes


class EntryChain:
    """Judges headers run by run, in log order, remembering the entry before. The first entry of a log has number 0."""

    def __init__(self, data: Bytes, base_offset: int, *, from_start: bool) -> None:
        self._data, self._base_offset = data, base_offset
        self._next = np.array([0 if from_start and base_offset == 0 else UNKNOWN, UNKNOWN], np.int64)

    def broken(self, places: Longs, message_sizes: npt.NDArray[np.int32]) -> Iterator[tuple[int, StoreFormatError]]:
        """The rows whose header is wrong, each with the reason, among entries at these file positions."""
        judged = np.empty((len(places), 3), np.int64)
        judge_headers(self._data, places, message_sizes, self._base_offset, self._next, judged)
        for row in np.flatnonzero(judged[:, 0] != RIGHT).tolist():
            verdict = Judged(*judged[row].tolist())
            yield (
                row,
                header_error(self._data.data, int(places[row]), self._base_offset, int(message_sizes[row]), verdict),
            )

    def forget(self) -> None:
        """Bytes that are no entry were passed: the next entry may have any number."""
        self._next[0] = UNKNOWN
