"""Java's big-endian integers inside compiled code: one byte swap and one unaligned load or store each.

The caller has checked that the bytes are there: compiled code does not. The target is little-endian, as every platform
that numba supports is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

Load = Callable[[npt.NDArray[np.uint8], int], int]
LoadAt = Callable[[int], int]
Store = Callable[[npt.NDArray[np.uint8], int, int], None]


def _load(width: int) -> Load:
    """An intrinsic that reads a signed integer of `width` bits at a byte position of a uint8 array, as an int64."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array, at = arguments
        first = context.make_array(signature.args[0])(context, builder, array).data
        return _signed(builder, builder.gep(first, [at], inbounds=True), width)

    def load(typing_context: Any, data: Any, at: Any) -> Any:
        return types.int64(data, types.intp), generate

    return cast("Load", intrinsic(load))


def _load_at(width: int) -> LoadAt:
    """Load a big-endian integer from an address in memory: for many arrays at once, kept alive by the caller."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _signed(builder, builder.inttoptr(arguments[0], ir.IntType(8).as_pointer()), width)

    def load(typing_context: Any, address: Any) -> Any:
        return types.int64(types.int64), generate

    return cast("LoadAt", intrinsic(load))


def _signed(builder: Any, place: Any, width: int) -> Any:
    """The integer of `width` bits at a pointer, swapped and widened."""
    swapped = builder.bswap(builder.load(builder.bitcast(place, ir.IntType(width).as_pointer()), align=1))
    return swapped if width == 64 else builder.sext(swapped, ir.IntType(64))


load_short = _load(16)
load_int = _load(32)
load_long = _load(64)
int_at = _load_at(32)
long_at = _load_at(64)


def _store(width: int) -> Store:
    """An intrinsic that writes the low `width` bits of an integer at a byte position of a uint8 array."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array, at, value = arguments
        first = context.make_array(signature.args[0])(context, builder, array).data
        word = ir.IntType(width)
        place = builder.bitcast(builder.gep(first, [at], inbounds=True), word.as_pointer())
        builder.store(builder.bswap(builder.trunc(value, word) if width < 64 else value), place, align=1)
        return context.get_dummy_value()

    def store(typing_context: Any, data: Any, at: Any, value: Any) -> Any:
        return types.void(data, types.intp, types.int64), generate

    return cast("Store", intrinsic(store))


store_int = _store(32)
store_long = _store(64)
