"""What the cores of this machine give at this moment: a plain loop over the same bytes, on one core and on all.

No lock, no allocation and no file that grows is in it, so nothing of ours can be faster than one core by more.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter

import numpy as np
import numpy.typing as npt
from numba import njit

from parsers.evidence.mapped import map_file

RUNS = 5
PIECES = 8
Bytes = npt.NDArray[np.uint8]


@njit(nogil=True)
def _mixed(data: Bytes) -> int:
    """A sum of which each byte is a step."""
    told = 0
    for byte in data:
        told = (told * 31 + byte) & 0xFFFFFFFF
    return told


@contextmanager
def on_one_core() -> Iterator[None]:
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


def ceiling(paths: Sequence[Path]) -> float:
    """How many times as fast all cores are as one, by the clock: each the best of some runs, taken in turn."""
    whole = [np.frombuffer(map_file(path), np.uint8) for path in paths]
    pieces = [piece for data in whole for piece in np.array_split(data, PIECES)]
    _took(pieces)
    alone, together = [], []
    for _ in range(RUNS):
        with on_one_core():
            alone.append(_took(pieces))
        together.append(_took(pieces))
    return min(alone) / min(together)


def _took(pieces: Sequence[Bytes]) -> float:
    start = perf_counter()
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        list(pool.map(_mixed, pieces))
    return perf_counter() - start
