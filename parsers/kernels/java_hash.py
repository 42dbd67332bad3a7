"""`String.hashCode` of UTF-8 bytes, without making a string: the twin of `parsers.values.java.string_hash_code`."""

from __future__ import annotations

import numpy as np

from parsers.kernels.arrays import Bytes
from parsers.kernels.bigendian import load_long
from parsers.kernels.kernel import kernel

MALFORMED = -1
LOW_32 = 0xFFFFFFFF
HIGH_BITS_OF_8 = -0x7F7F7F7F7F7F7F80  # 0x8080808080808080 as a signed long
EVEN_BYTES, EVEN_PAIRS = 0x00FF00FF00FF00FF, 0x0000FFFF0000FFFF
P2, P4, P8 = 31**2, 31**4, 31**8 % 2**32
POWERS: tuple[int, ...] = tuple(31**power % 2**32 for power in range(8))


@kernel
def _eight(word: int) -> int:
    """What eight bytes below 0x80 add to a hash, before it is cut to 32 bits: neighbours are joined pair by pair."""
    pairs = ((word >> 8) & EVEN_BYTES) * 31 + (word & EVEN_BYTES)
    fours = ((pairs >> 16) & EVEN_PAIRS) * P2 + (pairs & EVEN_PAIRS)
    return (fours >> 32) * P4 + (fours & LOW_32)


@kernel
def hash_utf8(data: Bytes, start: int, end: int, seed: int) -> int:
    """The hash of the text before (`seed`, 0: none) continued over bytes `start` to `end`, as an unsigned 32-bit int.

    MALFORMED for bytes that are not UTF-8: what Java puts in their place is left to the scalar rule.
    """
    value = seed
    at = start
    while at + 8 <= end:
        eight = load_long(data, at)
        if eight & HIGH_BITS_OF_8:
            break
        value = (value * P8 + _eight(eight)) & LOW_32
        at += 8
    left = end - at
    if 0 < left < 8 and at + 8 <= len(data):
        rest = (load_long(data, at) >> (64 - 8 * left)) & ((1 << (8 * left)) - 1)
        if rest & HIGH_BITS_OF_8 == 0:
            return (value * POWERS[left] + _eight(rest)) & LOW_32
    while at < end:
        unit = int(np.int64(data[at]))
        if unit < 0x80:
            at += 1
        else:
            unit, at = _code_point(data, at, end)
            if unit < 0:
                return MALFORMED
            if unit >= 0x10000:
                value = (value * 31 + 0xD800 + ((unit - 0x10000) >> 10)) & LOW_32
                unit = 0xDC00 + ((unit - 0x10000) & 0x3FF)
        value = (value * 31 + unit) & LOW_32
    return value


@kernel
def _code_point(data: Bytes, at: int, end: int) -> tuple[int, int]:
    """The code point of a sequence of two to four bytes and the byte after it; (-1, at) when malformed."""
    first = int(np.int64(data[at]))
    more = 1 if 0xC2 <= first < 0xE0 else (2 if 0xE0 <= first < 0xF0 else (3 if 0xF0 <= first < 0xF5 else 0))
    if more == 0 or at + more + 1 > end:
        return -1, at
    point = first & (0x3F >> more)
    for step in range(1, more + 1):
        following = int(np.int64(data[at + step]))
        if following & 0xC0 != 0x80:
            return -1, at
        point = (point << 6) | (following & 0x3F)
    too_long = (more == 2 and point < 0x800) or (more == 3 and point < 0x10000)
    if too_long or 0xD800 <= point < 0xE000 or point > 0x10FFFF:
        return -1, at
    return point, at + more + 1


@kernel
def index_hash(unsigned_hash: int) -> int:
    """`IndexFile#indexKeyHashMethod` of an unsigned hash: its absolute value as an int, 0 for -2**31."""
    if unsigned_hash < 2**31:
        return unsigned_hash
    return (2**32 - unsigned_hash) & 0x7FFFFFFF
