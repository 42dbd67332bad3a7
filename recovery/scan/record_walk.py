"""Which records follow one another in a log file, inside compiled code."""

from __future__ import annotations

from parsers.commitlog.compiled.kernel import ask_ahead
from parsers.commitlog.compiled.resync import BODY_CRC_WRONG, CRC_RIGHT, RECORD_CRC_WRONG, crc_verdict
from parsers.commitlog.compiled.shape import AT_BODY_SIZE, PROPERTIES_WIDTH, TAIL_SIZE, Shape, own_offset, shape_of
from parsers.kernels.arrays import Bytes, Codes, Longs
from parsers.kernels.bigendian import load_int, load_short
from parsers.kernels.kernel import inline_kernel, kernel

LENGTH_NEGATIVE = 1 + max(CRC_RIGHT, BODY_CRC_WRONG, RECORD_CRC_WRONG)
"""A verdict beside those of `resync.crc_verdict`: the CRCs are right, and a length is below 0."""


@kernel
def walk(data: Bytes, at: int, base_offset: int, header: int, positions: Longs) -> tuple[int, int]:
    """Fill `positions` with messages that follow one another from byte `at`, each after `header` bytes; returns how
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


@kernel
def walk_judging(data: Bytes, at: int, base_offset: int, header: int, positions: Longs, crc: Codes) -> tuple[int, int]:
    """Fill `positions` as `walk` does, and `crc` with the verdict on each record."""
    count = 0
    at += header
    while count < len(positions):
        shape = shape_of(data, at)
        if shape[0] == 0 or own_offset(data, at) != base_offset + at:
            break
        ask_ahead(data, at, shape[0])
        positions[count], crc[count] = at, verdict(data, at, shape)
        count += 1
        at += shape[0] + header
    return count, at - header


@kernel
def judge_crcs(data: Bytes, positions: Longs, crc: Codes) -> None:
    """Verdicts on the well-formed records at these file positions."""
    for row in range(len(positions)):
        crc[row] = verdict(data, positions[row], shape_of(data, positions[row]))


@inline_kernel
def verdict(data: Bytes, at: int, shape: Shape) -> int:
    """What `resync.crc_verdict` says of the record at `at`, which has this shape; LENGTH_NEGATIVE where that finds
    nothing, and the length of the body or of the properties is below 0.

    A broker writes 0 for what is not there, and reads any length below as 0 (CommitLog#calMsgLength @4.9.8, 5.5.0).
    """
    found = crc_verdict(data, at, shape)
    if found != CRC_RIGHT:
        return found
    body_length = load_int(data, shape[1] - TAIL_SIZE + AT_BODY_SIZE)
    properties_length = load_short(data, shape[5] - PROPERTIES_WIDTH)
    return LENGTH_NEGATIVE if body_length < 0 or properties_length < 0 else CRC_RIGHT
