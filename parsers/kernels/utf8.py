"""UTF-8 as Java's `new String(bytes, UTF_8)` takes it, inside compiled code: malformed bytes become U+FFFD."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from parsers.kernels.arrays import BLOCK, Bytes
from parsers.kernels.blocks import block_before_end, copy, high_mask, lowest_bit
from parsers.kernels.kernel import inline_kernel, kernel

REPLACEMENT = (0xEF, 0xBF, 0xBD)
GROWTH = 3
"""One malformed byte becomes three."""


@kernel
def _sequence(data: Bytes, at: int, end: int) -> int:
    """Bytes of the character at `at`; negative: how many malformed bytes one U+FFFD stands for."""
    first = data[at]
    if first < 0x80:
        return 1
    if first < 0xC2 or first > 0xF4:
        return -1
    needed = 2 if first < 0xE0 else 3 if first < 0xF0 else 4
    low, high = 0x80, 0xBF
    if first == 0xE0:
        low = 0xA0
    elif first == 0xF0:
        low = 0x90
    elif first == 0xF4:
        high = 0x8F
    for i in range(1, needed):
        if at + i >= end or data[at + i] < low or data[at + i] > high:
            return -i
        low, high = 0x80, 0xBF
    if first == 0xED and data[at + 1] >= 0xA0:  # a surrogate: Java replaces the three bytes by one
        return -3
    return needed


@inline_kernel
def is_valid(data: Bytes, at: int, size: int) -> bool:
    """The range is UTF-8 that Java keeps as it is. `data` has at least 64 bytes."""
    end = at + size
    while at < end:
        start, shift, within = block_before_end(data, at, end)
        not_ascii = high_mask(data, start) >> shift & within
        if not_ascii == 0:
            at = start + BLOCK
        else:
            at = _after_run(data, at + lowest_bit(not_ascii), end)
            if at < 0:
                return False
    return True


@kernel
def _after_run(data: Bytes, at: int, end: int) -> int:
    """Where a run of characters beyond ASCII ends; -1 where it is malformed."""
    while at < end and data[at] >= 0x80:
        taken = _sequence(data, at, end)
        if taken < 0:
            return -1
        at += taken
    return at


@kernel
def copy_repaired(target: Bytes, to: int, source: Bytes, at: int, size: int) -> int:
    """Copy `size` bytes as valid UTF-8 of at most three times the size; returns where they end in the target.

    Up to 32 bytes after them may be overwritten, as by `copy`.
    """
    end = at + size
    while at < end:
        taken = _sequence(source, at, end)
        if taken > 0:
            to = copy(target, to, source, at, taken)
            at += taken
        else:
            target[to], target[to + 1], target[to + 2] = REPLACEMENT
            to += 3
            at -= taken
    return to


def are_valid(data: Bytes, ends: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
    """Which of the texts between consecutive `ends` are UTF-8 that Java keeps as it is."""
    valid = np.zeros(len(ends) - 1, np.bool_)
    note_valid(data if len(data) >= BLOCK else np.pad(data, (0, BLOCK - len(data))), ends, valid)
    return valid


@kernel
def note_valid(data: Bytes, ends: npt.NDArray[np.int32], valid: npt.NDArray[np.bool_]) -> None:
    for row in range(len(valid)):
        valid[row] = is_valid(data, ends[row], ends[row + 1] - ends[row])
