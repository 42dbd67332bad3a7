"""The compiled kernels as plain Python, for the coverage-guided fuzzer: it sees no branch in compiled code.

What cannot run without a compiler, the intrinsics, has a twin here that also checks what compiled code leaves to its
caller: that the bytes are there. So a read beyond the end of a file, silent when compiled, is an IndexError here.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def install() -> None:
    """Put the twins in place. To be called before any module with kernels is imported."""
    from parsers.kernels import kernel

    kernel.kernel = kernel.inline_kernel = lambda function: function

    from parsers.kernels import bigendian, blocks, crc32

    for width, name in ((16, "short"), (32, "int"), (64, "long")):
        setattr(bigendian, f"load_{name}", _load(width // 8))
    for width, name in ((32, "int"), (64, "long")):
        setattr(bigendian, f"store_{name}", _store(width // 8))
    for twin in (equal_mask, high_mask, lowest_bit, copy_block, copy_exactly, prefetch):
        setattr(blocks, twin.__name__, twin)
    crc32.crc32 = crc32_by_zlib

    from parsers.kernels import java_hash

    hash_utf8 = java_hash.hash_utf8
    java_hash.hash_utf8 = lambda *text: np.int64(hash_utf8(*text))  # an int32 of it is its low half, as compiled


def _there(array: Array, at: int, size: int) -> slice:
    """The bytes from `at`, all of which must exist."""
    if not 0 <= at <= len(array) - size:
        raise IndexError(f"bytes {at}..{at + size} of {len(array)}")
    return slice(int(at), int(at + size))


def _load(size: int) -> Callable[[Array, int], np.int64]:
    """An int64 that wraps, as compiled ones do."""
    return lambda array, at: np.int64(int.from_bytes(array[_there(array, at, size)].tobytes(), "big", signed=True))


def _store(size: int) -> Callable[[Array, int, int], None]:
    def store(array: Array, at: int, value: int) -> None:
        low = int(value) & ((1 << 8 * size) - 1)
        array[_there(array, at, size)] = np.frombuffer(low.to_bytes(size, "big"), np.uint8)

    return store


def _mask(bits: npt.NDArray[np.bool_]) -> np.uint64:
    return np.uint64(int.from_bytes(np.packbits(bits, bitorder="little").tobytes(), "little"))


def equal_mask(array: Array, at: int, value: int) -> np.uint64:
    return _mask(array[_there(array, at, 64)] == value)


def high_mask(array: Array, at: int) -> np.uint64:
    return _mask(array[_there(array, at, 64)] >= 0x80)


def lowest_bit(mask: np.uint64) -> int:
    bits = int(mask)
    assert bits, "no bit is set"
    return (bits & -bits).bit_length() - 1


def copy_block(target: Array, to: int, source: Array, at: int) -> None:
    target[_there(target, to, 32)] = source[_there(source, at, 32)]


def copy_exactly(target: Array, to: int, source: Array, at: int, size: int) -> None:
    target[_there(target, to, size)] = source[_there(source, at, size)]


def prefetch(array: Array, at: int) -> None:
    """Nothing: the item need not exist."""


def crc32_by_zlib(array: Array, at: int, size: int) -> np.uint32:
    return np.uint32(zlib.crc32(array[_there(array, at, size)].tobytes()))
