"""CRC-32 (zlib's polynomial) inside compiled code, by carry-less multiplication where the processor has it.

Folding after Gopal et al., "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction" (Intel, 2009):
64 bytes a step are multiplied down to 16, and these, with what is left, go through the eight-table form.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from parsers.kernels.arrays import Bytes
from parsers.kernels.kernel import can_fold, inline_kernel, intrinsic, kernel

POLYNOMIAL = 0xEDB88320  # reflected, as zlib's
# x^(4*128+32), x^(4*128-32), x^(128+32), x^(128-32) modulo the polynomial, reflected
FOLD_64_LOW, FOLD_64_HIGH = 0x154442BD4, 0x1C6E41596
FOLD_16_LOW, FOLD_16_HIGH = 0x1751997D0, 0x0CCAA009E
SMALLEST_FOLDED = 64


def _tables() -> npt.NDArray[np.uint32]:
    """Eight tables: entry [k, b] is the CRC of byte b followed by k zero bytes."""
    table = np.zeros((8, 256), np.uint32)
    entry = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        entry = np.where(entry & 1, entry >> 1 ^ np.uint32(POLYNOMIAL), entry >> 1)
    table[0] = entry
    for k in range(1, 8):
        table[k] = table[k - 1] >> 8 ^ table[0][table[k - 1] & 0xFF]
    return table


TABLES = _tables()


Load = Callable[[Bytes, int], Any]
Vector = Any
"""Sixteen bytes in one register: within compiled code alone."""

load_word = cast("Load", intrinsic("vectors", "load_word"))
load_half = cast("Load", intrinsic("vectors", "load_half"))
load_vector = cast("Load", intrinsic("vectors", "load_vector"))
vector = cast("Callable[[np.uint64, np.uint64], Vector]", intrinsic("vectors", "vector"))
word_of = cast("Callable[[Vector, int], np.uint64]", intrinsic("vectors", "word_of"))
xor = cast("Callable[[Vector, Vector], Vector]", intrinsic("vectors", "xor"))
fold = cast("Callable[[Vector, Vector], Vector]", intrinsic("vectors", "fold"))


@inline_kernel
def _step(crc: np.uint32, eight: np.uint64) -> Any:
    """The CRC after eight more bytes."""
    word = eight ^ np.uint64(crc)
    return (
        TABLES[7, word & np.uint64(0xFF)]
        ^ TABLES[6, word >> np.uint64(8) & np.uint64(0xFF)]
        ^ TABLES[5, word >> np.uint64(16) & np.uint64(0xFF)]
        ^ TABLES[4, word >> np.uint64(24) & np.uint64(0xFF)]
        ^ TABLES[3, word >> np.uint64(32) & np.uint64(0xFF)]
        ^ TABLES[2, word >> np.uint64(40) & np.uint64(0xFF)]
        ^ TABLES[1, word >> np.uint64(48) & np.uint64(0xFF)]
        ^ TABLES[0, word >> np.uint64(56)]
    )


@inline_kernel
def _half_step(crc: np.uint32, four: np.uint32) -> Any:
    """The CRC after four more bytes."""
    half = four ^ crc
    return (
        TABLES[3, half & np.uint32(0xFF)]
        ^ TABLES[2, half >> np.uint32(8) & np.uint32(0xFF)]
        ^ TABLES[1, half >> np.uint32(16) & np.uint32(0xFF)]
        ^ TABLES[0, half >> np.uint32(24)]
    )


@inline_kernel
def _by_tables(crc: np.uint32, data: Bytes, at: int, size: int) -> np.uint32:
    """The inner register (not inverted) after `size` bytes from `at`."""
    end = at + size
    while at + 8 <= end:
        crc = _step(crc, load_word(data, at))
        at += 8
    if at + 4 <= end:
        crc = _half_step(crc, load_half(data, at))
        at += 4
    while at < end:
        crc = TABLES[0, (crc ^ data[at]) & np.uint32(0xFF)] ^ (crc >> np.uint32(8))
        at += 1
    return crc


@kernel
def crc32_by_tables(data: Bytes, at: int, size: int) -> np.uint32:
    """`zlib.crc32(data[at : at + size])` on any processor."""
    return ~np.uint32(_by_tables(np.uint32(0xFFFFFFFF), data, at, size))


if can_fold():

    @kernel
    def crc32_by_folding(data: Bytes, at: int, size: int) -> np.uint32:
        """`zlib.crc32(data[at : at + size])` with carry-less multiplication."""
        if size < SMALLEST_FOLDED:
            return crc32_by_tables(data, at, size)
        end = at + size
        factors = vector(np.uint64(FOLD_64_LOW), np.uint64(FOLD_64_HIGH))
        a = xor(load_vector(data, at), vector(np.uint64(0xFFFFFFFF), np.uint64(0)))
        b = load_vector(data, at + 16)
        c = load_vector(data, at + 32)
        d = load_vector(data, at + 48)
        at += 64
        while at + 64 <= end:
            a = xor(fold(a, factors), load_vector(data, at))
            b = xor(fold(b, factors), load_vector(data, at + 16))
            c = xor(fold(c, factors), load_vector(data, at + 32))
            d = xor(fold(d, factors), load_vector(data, at + 48))
            at += 64
        factors = vector(np.uint64(FOLD_16_LOW), np.uint64(FOLD_16_HIGH))
        a = xor(fold(a, factors), b)
        a = xor(fold(a, factors), c)
        a = xor(fold(a, factors), d)
        while at + 16 <= end:
            a = xor(fold(a, factors), load_vector(data, at))
            at += 16
        crc = _step(np.uint32(0), word_of(a, 0))
        crc = _step(crc, word_of(a, 1))
        return ~np.uint32(_by_tables(crc, data, at, end - at))

    crc32 = crc32_by_folding
else:
    crc32 = crc32_by_tables
