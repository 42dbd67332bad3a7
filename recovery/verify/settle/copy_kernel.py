"""Compare copies of records with their originals, byte for byte."""

from __future__ import annotations

from parsers.commitlog.record.layout import HEAD
from parsers.kernels.arrays import Bytes, Longs, Mask
from parsers.kernels.kernel import kernel

OWN_OFFSET, OWN_OFFSET_END = HEAD.offsets["physical_offset"], HEAD.offsets["physical_offset"] + 8


@kernel
def same_records(copy: Bytes, copy_at: Longs, log: Bytes, log_at: Longs, size: Longs, same: Mask) -> None:
    """Note in `same` each pair whose bytes are the same, PHYSICALOFFSET left out; a pair that is not whole is not.

    Shape: `copy_at`, `log_at`, `size`, `same` (false at first) have one element for each pair: positions in `copy` and
    in `log`, bytes.
    """
    for row in range(len(size)):
        first, second, length = copy_at[row], log_at[row], size[row]
        if first < 0 or second < 0 or first + length > len(copy) or second + length > len(log):
            continue
        is_same = True
        for at in range(length):
            if copy[first + at] != log[second + at] and not OWN_OFFSET <= at < OWN_OFFSET_END:
                is_same = False
                break
        same[row] = is_same
