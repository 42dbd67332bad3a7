"""Blocks of bytes inside compiled code: 64 compared at once, 32 copied at once.

The caller has checked that the bytes are there, on both sides: compiled code does not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from parsers.kernels.numba_cache import cached_njit

Bytes = npt.NDArray[np.uint8]
Mask = np.uint64

BYTE = ir.IntType(8)
BLOCK = 64
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
COPIED = 32
"""How far `copy` may write and read beyond the last byte asked for."""


def pointer(context: Any, builder: Any, array_type: Any, place: tuple[Any, Any], to: Any) -> Any:
    """Inside an intrinsic: where a value of type `to` starts, given the array and the byte in it."""
    first = context.make_array(array_type)(context, builder, place[0]).data
    return builder.bitcast(builder.gep(first, [place[1]], inbounds=True), to.as_pointer())


def _splat(value: int) -> ir.Constant:
    return ir.Constant(ir.VectorType(BYTE, BLOCK), [ir.Constant(BYTE, value)] * BLOCK)


def _equal_mask(typing_context: Any, data: Any, at: Any, value: Any) -> Any:
    """Bit i is set where `data[at + i] == value`, for i up to 63. `value` is a constant."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        lanes = ir.VectorType(BYTE, BLOCK)
        block = builder.load(pointer(context, builder, signature.args[0], arguments[:2], lanes), align=1)
        one = builder.insert_element(ir.Constant(lanes, ir.Undefined), arguments[2], ir.Constant(ir.IntType(32), 0))
        order = ir.Constant(ir.VectorType(ir.IntType(32), BLOCK), [ir.Constant(ir.IntType(32), 0)] * BLOCK)
        same = builder.icmp_unsigned("==", block, builder.shuffle_vector(one, one, order))
        return builder.bitcast(same, ir.IntType(BLOCK))

    return types.uint64(data, types.intp, types.uint8), generate


def _high_mask(typing_context: Any, data: Any, at: Any) -> Any:
    """Bit i is set where `data[at + i] >= 0x80`: not ASCII."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        lanes = ir.VectorType(BYTE, BLOCK)
        block = builder.load(pointer(context, builder, signature.args[0], arguments, lanes), align=1)
        return builder.bitcast(builder.icmp_signed("<", block, _splat(0)), ir.IntType(BLOCK))

    return types.uint64(data, types.intp), generate


def _lowest_bit(typing_context: Any, mask: Any) -> Any:
    """Position of the lowest set bit; `mask` is not 0."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), generate


def _copy_block(typing_context: Any, target: Any, to: Any, source: Any, at: Any) -> Any:
    """Thirty-two bytes."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        lanes = ir.VectorType(BYTE, COPIED)
        block = builder.load(pointer(context, builder, signature.args[2], arguments[2:], lanes), align=1)
        builder.store(block, pointer(context, builder, signature.args[0], arguments[:2], lanes), align=1)
        return context.get_dummy_value()

    return types.void(target, types.intp, source, types.intp), generate


def _copy_exactly(typing_context: Any, target: Any, to: Any, source: Any, at: Any, size: Any) -> Any:
    """Copy exactly `size` bytes with the C library's memcpy."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        places = [
            pointer(context, builder, signature.args[which], arguments[which : which + 2], BYTE) for which in (0, 2)
        ]
        cast("Any", cgutils).raw_memcpy(builder, *places, arguments[4], 1)
        return context.get_dummy_value()

    return types.void(target, types.intp, source, types.intp, types.intp), generate


def _prefetch(typing_context: Any, data: Any, at: Any) -> Any:
    """Ask for the cache line of item `at` of an array, which need not exist."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = pointer(context, builder, signature.args[0], arguments, BYTE)
        word = ir.IntType(32)
        ask = ir.FunctionType(ir.VoidType(), [place.type, word, word, word])
        hints = [ir.Constant(word, hint) for hint in (0, 3, 1)]  # to read, to keep, data
        name = "llvm.prefetch.p0"
        builder.call(cast("Any", cgutils).get_or_insert_function(builder.module, ask, name), [place, *hints])
        return context.get_dummy_value()

    return types.void(data, types.intp), generate


prefetch = cast("Callable[[npt.NDArray[Any], int], None]", intrinsic(_prefetch))
equal_mask = cast("Callable[[Bytes, int, int | np.uint8], Mask]", intrinsic(_equal_mask))
high_mask = cast("Callable[[Bytes, int], Mask]", intrinsic(_high_mask))
lowest_bit = cast("Callable[[Mask], int]", intrinsic(_lowest_bit))
copy_block = cast("Callable[[Bytes, int, Bytes, int], None]", intrinsic(_copy_block))
copy_exactly = cast("Callable[[Bytes, int, Bytes, int, int], None]", intrinsic(_copy_exactly))


@cached_njit(nogil=True, _nrt=False, forceinline=True)
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


@cached_njit(nogil=True, _nrt=False, forceinline=True)
def block_before_end(data: Bytes, at: int, end: int) -> tuple[int, Mask, Mask]:
    """Where to read a block so that it holds the bytes from `at` without leaving `data`, which has at least 64 bytes.

    Returns: its start, how far its masks are to be shifted right, and which bits then are bytes before `end`.
    """
    start = min(at, len(data) - BLOCK)
    within = ALL if end - at >= BLOCK else ALL >> np.uint64(BLOCK - (end - at))
    return start, np.uint64(at - start), within
