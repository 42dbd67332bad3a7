"""Loads of Java's big-endian integers inside compiled code: one unaligned load and one byte swap each.

The caller has checked that the bytes are there: compiled code does not. The target is little-endian, as every platform
that numba supports is.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

Bytes = npt.NDArray[np.uint8]


def _swapped_load(width: int) -> Any:
    """The code generator of an intrinsic that reads `width` bits at a byte position of a uint8 array."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array, at = arguments
        first = context.make_array(signature.args[0])(context, builder, array).data
        word = ir.IntType(width)
        place = builder.bitcast(cgutils.gep_inbounds(builder, first, at), word.as_pointer())
        return builder.bswap(builder.load(place, align=1))

    return generate


@intrinsic
def load_short(typing_context: Any, data: Bytes, at: int) -> Any:
    """The signed 16-bit integer at byte `at`."""
    return types.int16(data, types.intp), _swapped_load(16)


@intrinsic
def load_int(typing_context: Any, data: Bytes, at: int) -> Any:
    """The signed 32-bit integer at byte `at`."""
    return types.int32(data, types.intp), _swapped_load(32)


@intrinsic
def load_long(typing_context: Any, data: Bytes, at: int) -> Any:
    """The signed 64-bit integer at byte `at`."""
    return types.int64(data, types.intp), _swapped_load(64)
