"""Which records follow one another in a log file, inside compiled code."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from parsers.commitlog.columns import NO
from parsers.commitlog.kernel import ask_ahead, body_crc_ok, record_crc_verdict
from parsers.commitlog.layout import MAGIC_V1, MAGIC_V2, RECORD_START, SMALLEST_MESSAGE
from parsers.commitlog.shape import AT_BODY_CRC, AT_MAGIC, Shape, own_offset, shape_of
from parsers.kernels.bigendian import load_int
from parsers.numba_cache import cached_njit

Bytes = npt.NDArray[np.uint8]
Longs = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int8]

MAGIC_SIZE = RECORD_START.size - AT_MAGIC
CRC_RIGHT, BODY_CRC_WRONG, RECORD_CRC_WRONG = 0, 1, 2


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
    """As `walk`, with the verdict on each record's CRCs, while its bytes are at hand."""
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


@cached_njit(nogil=True, _nrt=False, forceinline=True)
def crc_verdict(data: Bytes, at: int, shape: Shape) -> int:
    """Whether body and record of the well-formed record at `at` are what their CRCs say, in the words above."""
    total_size, body_at, body_size, _, _, _, properties_size = shape
    if body_size > 0 and not body_crc_ok(data, body_at, body_size, load_int(data, at + AT_BODY_CRC)):
        return BODY_CRC_WRONG
    if properties_size > 0 and record_crc_verdict(data, at, total_size) == NO:
        return RECORD_CRC_WRONG
    return CRC_RIGHT


@cached_njit(nogil=True, _nrt=False)
def judge_crcs(data: Bytes, positions: Longs, crc: Codes) -> None:
    """CRC verdicts of the well-formed records at these file positions."""
    for row in range(len(positions)):
        crc[row] = crc_verdict(data, positions[row], shape_of(data, positions[row]))


@cached_njit(nogil=True, _nrt=False)
def next_record(data: Bytes, at: int, base_offset: int, header: int) -> int:
    """The first byte from `at` on behind whose `header` bytes a well-formed message stands that says it stands there;
    -1 without one."""
    last = len(data) - SMALLEST_MESSAGE
    at += header
    while at <= last:
        magic = load_int(data, at + AT_MAGIC)
        if magic == 0:
            at += MAGIC_SIZE
            continue
        if magic in (MAGIC_V1, MAGIC_V2) and shape_of(data, at)[0] > 0 and own_offset(data, at) == base_offset + at:
            return at - header
        at += 1
    return -1
