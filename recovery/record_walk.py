"""Which records follow one another in a log file, inside compiled code."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from parsers.commitlog.layout import MAGIC_V1, MAGIC_V2, RECORD_START, SMALLEST_MESSAGE
from parsers.commitlog.shape import AT_MAGIC, own_offset, shape_of
from parsers.kernels.bigendian import load_int
from parsers.numba_cache import cached_njit

Bytes = npt.NDArray[np.uint8]
Longs = npt.NDArray[np.int64]

MAGIC_SIZE = RECORD_START.size - AT_MAGIC


@cached_njit(nogil=True, _nrt=False)
def walk(data: Bytes, at: int, base_offset: int, positions: Longs) -> tuple[int, int]:
    """Fill `positions` with records that follow one another from byte `at`; returns how many, and where the next would
    start: where `positions` is full, or where no well-formed record stands that says it stands there."""
    count = 0
    while count < len(positions):
        total_size = shape_of(data, at)[0]
        if total_size == 0 or own_offset(data, at) != base_offset + at:
            break
        positions[count] = at
        count += 1
        at += total_size
    return count, at


@cached_njit(nogil=True)
def next_record(data: Bytes, at: int, base_offset: int) -> int:
    """The first byte from `at` on where a well-formed record stands that says it stands there; -1 without one."""
    last = len(data) - SMALLEST_MESSAGE
    while at <= last:
        magic = load_int(data, at + AT_MAGIC)
        if magic == 0:
            at += MAGIC_SIZE
            continue
        if magic in (MAGIC_V1, MAGIC_V2) and shape_of(data, at)[0] > 0 and own_offset(data, at) == base_offset + at:
            return at
        at += 1
    return -1
