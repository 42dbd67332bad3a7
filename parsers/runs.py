"""Neighbouring positions taken together, so that a thousand bad records in a row are one finding."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt


def runs(mask: npt.NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    """(first, end) of every run of True in `mask`, in order; `end` is the position after the run."""
    edges = np.flatnonzero(np.diff(mask.astype(np.int8), prepend=0, append=0))
    yield from zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)
