"""Blocks of bytes: 64 compared at once, 32 copied at once, and places asked for ahead."""

from __future__ import annotations

from typing import Any, cast

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from parsers.kernels.arrays import BLOCK, COPIED
from parsers.kernels.llvm.pointer import pointer

BYTE = ir.IntType(8)


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


prefetch = intrinsic(_prefetch)
equal_mask = intrinsic(_equal_mask)
high_mask = intrinsic(_high_mask)
lowest_bit = intrinsic(_lowest_bit)
copy_block = intrinsic(_copy_block)
copy_exactly = intrinsic(_copy_exactly)
