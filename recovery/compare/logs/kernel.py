"""Bytes of two logs against each other."""

from __future__ import annotations

import numpy as np

from parsers.commitlog.compiled.shape import own_offset, shape_of
from parsers.kernels.arrays import Bytes, Codes, Longs
from parsers.kernels.bigendian import load_int
from parsers.kernels.kernel import kernel

EQUAL, OTHER, OTHER_SIZE, UNWRITTEN, CUT, NO_RECORD = range(6)
"""What stands in the other log in the place of a record: the same bytes; another record of that size; one of another
size; zeros; its first bytes and then zeros; anything else."""
BLOCK = 1 << 18
"""Bytes compared at once: little enough to stay in the processor's cache."""


def first_difference(left: Bytes, right: Bytes) -> int:
    """The first position at which two runs of bytes of one length differ; their length where they do not."""
    for begin in range(0, len(left), BLOCK):
        own, others = left[begin : begin + BLOCK], right[begin : begin + BLOCK]
        if not np.array_equal(own, others):
            return begin + int(np.argmax(own != others))
    return len(left)


@kernel
def judge_records(
    left: Bytes, positions: Longs, header: int, right: Bytes, shift: int, right_base: int, verdicts: Codes
) -> None:
    """What stands in `right` in the place of each record of `left` whose message begins at one of `positions`.

    A byte at p in `left` is at p + `shift` in `right`, which holds all of these records' places.
    """
    for row in range(len(positions)):
        start = positions[row] - header
        end = positions[row] + load_int(left, positions[row])
        at = start
        while at < end and left[at] == right[at + shift]:
            at += 1
        if at == end:
            verdicts[row] = EQUAL
            continue
        size = shape_of(right, positions[row] + shift)[0]
        if size and own_offset(right, positions[row] + shift) == right_base + positions[row] + shift:
            verdicts[row] = OTHER if size == end - positions[row] else OTHER_SIZE
            continue
        rest = at
        while rest < end and right[rest + shift] == 0:
            rest += 1
        if rest < end:
            verdicts[row] = NO_RECORD
        else:
            verdicts[row] = CUT if is_written(right, start + shift, at + shift) else UNWRITTEN


@kernel
def is_written(data: Bytes, begin: int, end: int) -> bool:
    """Whether any of these bytes is not zero."""
    at = begin
    while at < end and data[at] == 0:
        at += 1
    return at < end


@kernel
def differing_bits(left: Bytes, right: Bytes, most: int) -> int:
    """How many bits two runs of bytes of one length differ in; `most` where they are that many or more."""
    bits = 0
    for at in range(len(left)):
        left_over = left[at] ^ right[at]
        while left_over != 0:
            left_over &= left_over - np.uint8(1)
            bits += 1
            if bits == most:
                return most
    return bits
