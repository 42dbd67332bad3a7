"""Neighbouring positions taken together, so that a thousand bad records in a row are one finding."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt


def runs(mask: npt.NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    """(first, end) of every run of True in `mask`, in order; `end` is the position after the run."""
    edges = np.flatnonzero(np.diff(mask.astype(np.int8), prepend=0, append=0))
    yield from zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)


class JoinedRuns:
    """Runs found piece by piece and reported whole: one that goes on in the next piece is reported once.

    With `at_once` nothing is held back: the telling raises, and nothing after a run is to be read before that.
    """

    def __init__(self, tell: Callable[[int, int], None], *, at_once: bool = False) -> None:
        self._tell, self._at_once = tell, at_once
        self._first = self._end = 0

    def add(self, mask: npt.NDArray[np.bool_], at: int) -> None:
        """The runs of True in a piece whose first position is `at`; pieces come in order."""
        for first, end in runs(mask):
            if at + first != self._end:
                self.close()
                self._first = at + first
            self._end = at + end
        if self._at_once:
            self.close()

    def close(self) -> None:
        """Tell the last run: no more pieces come."""
        if self._end > self._first:
            self._tell(self._first, self._end)
        self._first = self._end
