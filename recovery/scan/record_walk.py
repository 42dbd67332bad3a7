"""Which records follow one another in a log file, inside compiled code."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from parsers.commitlog.compiled.kernel import ask_ahead
from parsers.commitlog.compiled.resync import crc_verdict
from parsers.commitlog.compiled.shape import own_offset, shape_of
from parsers.kernels.numba_cache import cached_njit

Bytes = npt.NDArray[np.uint8]
Longs = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int8]


@cached_njit(nogil=True, _nrt=False)
def walk(data: Bytes, at: int, base_offset: int, header: int, positions: Longs) -> tuple[int, int]:
    """Fill `positions` with messages that follow one another from byte `at`, each behind `header` bytes; returns how
    many, and where the next header would start: where `positions` is full, or where no well-formed message stands that
    says it stands there."""
    count = 0
    at += header
    while count < len(positions):
        total_size = shape_of(data, at)[0]
        if total_size == 0 or own_offset(data, at) != base_offset + at:
            break
        ask_ahead(data, at, total_size)
        positions[count] = at
        count += 1
        at += total_size + header
    return count, at - header


@cached_njit(nogil=True, _nrt=False)
def walk_judging(data: Bytes, at: int, base_offset: int, header: int, positions: Longs, crc: Codes) -> tuple[int, int]:
    """Fill `positions` as `walk` does, and `crc` with what `resync.crc_verdict` says of each record."""
    count = 0
    at += header
    while count < len(positions):
        shape = shape_of(data, at)
        if shape[0] == 0 or own_offset(data, at) != base_offset + at:
            break
        ask_ahead(data, at, shape[0])
        positions[count], crc[count] = at, crc_verdict(data, at, shape)
        count += 1
        at += shape[0] + header
    return count, at - header


@cached_njit(nogil=True, _nrt=False)
def judge_crcs(data: Bytes, positions: Longs, crc: Codes) -> None:
    """CRC verdicts of the well-formed records at these file positions."""
    for row in range(len(positions)):
        crc[row] = crc_verdict(data, positions[row], shape_of(data, positions[row]))
