"""Big-endian integers: one byte swap and one unaligned load or store each. The target is little-endian."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from parsers.kernels.llvm.pointer import pointer


def _load(width: int) -> Any:
    """An intrinsic that reads a signed integer of `width` bits at a byte position of a uint8 array, as an int64."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _signed(builder, pointer(context, builder, signature.args[0], arguments, ir.IntType(width)), width)

    def load(typing_context: Any, data: Any, at: Any) -> Any:
        return types.int64(data, types.intp), generate

    return intrinsic(load)


def _load_at(width: int) -> Any:
    """An intrinsic that reads one at an address in memory."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _signed(builder, builder.inttoptr(arguments[0], ir.IntType(width).as_pointer()), width)

    def load(typing_context: Any, address: Any) -> Any:
        return types.int64(types.int64), generate

    return intrinsic(load)


def _signed(builder: Any, place: Any, width: int) -> Any:
    """The integer of `width` bits at a pointer, swapped and widened."""
    swapped = builder.bswap(builder.load(place, align=1))
    return swapped if width == 64 else builder.sext(swapped, ir.IntType(64))


def _store(width: int) -> Any:
    """An intrinsic that writes the low `width` bits of an integer at a byte position of a uint8 array."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word = ir.IntType(width)
        place = pointer(context, builder, signature.args[0], arguments[:2], word)
        value = builder.trunc(arguments[2], word) if width < 64 else arguments[2]
        builder.store(builder.bswap(value), place, align=1)
        return context.get_dummy_value()

    def store(typing_context: Any, data: Any, at: Any, value: Any) -> Any:
        return types.void(data, types.intp, types.int64), generate

    return intrinsic(store)


load_short = _load(16)
load_int = _load(32)
load_long = _load(64)
int_at = _load_at(32)
long_at = _load_at(64)
store_int = _store(32)
store_long = _store(64)
