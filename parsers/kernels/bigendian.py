"""Loads of Java's big-endian integers inside compiled code: one unaligned load and one byte swap each.

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


def _load(width: int, result: Any) -> Load:
    """An intrinsic that reads `width` bits at a byte position of a uint8 array."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array, at = arguments
        first = context.make_array(signature.args[0])(context, builder, array).data
        word = ir.IntType(width)
        place = builder.bitcast(builder.gep(first, [at], inbounds=True), word.as_pointer())
        return builder.bswap(builder.load(place, align=1))

    def load(typing_context: Any, data: Any, at: Any) -> Any:
        return result(data, types.intp), generate

    return cast("Load", intrinsic(load))


load_short = _load(16, types.int16)
load_int = _load(32, types.int32)
load_long = _load(64, types.int64)
