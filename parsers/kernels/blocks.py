"""Blocks of bytes inside compiled code: 64 compared at once, 32 copied at once.

The caller has checked that the bytes are there, on both sides: compiled code does not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from parsers.kernels.arrays import BLOCK, COPIED, Bytes
from parsers.kernels.kernel import inline_kernel, intrinsic

Bits = np.uint64

ALL = np.uint64(0xFFFFFFFFFFFFFFFF)

prefetch = cast("Callable[[npt.NDArray[Any], int], None]", intrinsic("blocks", "prefetch"))
equal_mask = cast("Callable[[Bytes, int, int | np.uint8], Bits]", intrinsic("blocks", "equal_mask"))
high_mask = cast("Callable[[Bytes, int], Bits]", intrinsic("blocks", "high_mask"))
lowest_bit = cast("Callable[[Bits], int]", intrinsic("blocks", "lowest_bit"))
copy_block = cast("Callable[[Bytes, int, Bytes, int], None]", intrinsic("blocks", "copy_block"))
copy_exactly = cast("Callable[[Bytes, int, Bytes, int, int], None]", intrinsic("blocks", "copy_exactly"))


@inline_kernel
def copy(target: Bytes, to: int, source: Bytes, at: int, size: int) -> int:
    """Copy `size` bytes; returns where they end in the target, whose next 32 bytes may be overwritten.

    The source is read in blocks where 32 bytes are left beyond the copied ones, and exactly near its end.
    """
    if at + size + COPIED <= len(source):
        copy_block(target, to, source, at)
        done = COPIED
        while done < size:
            copy_block(target, to + done, source, at + done)
            done += COPIED
    else:
        copy_exactly(target, to, source, at, size)
    return to + size


@inline_kernel
def block_before_end(data: Bytes, at: int, end: int) -> tuple[int, Bits, Bits]:
    """Where to read a block so that it holds the bytes from `at` without leaving `data`, which has at least 64 bytes.

    Returns: its start, how far its masks are to be shifted right, and which bits then are bytes before `end`.
    """
    start = min(at, len(data) - BLOCK)
    within = ALL if end - at >= BLOCK else ALL >> np.uint64(BLOCK - (end - at))
    return start, np.uint64(at - start), within
