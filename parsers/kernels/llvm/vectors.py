"""Sixteen bytes in one register, multiplied without carries: what a CRC is folded with."""

from __future__ import annotations

from typing import Any, cast

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, register_model

from parsers.kernels.llvm.pointer import pointer


class Vector128(types.Type):
    """Sixteen bytes in one register, as two 64-bit lanes."""

    def __init__(self) -> None:
        super().__init__(name="Vector128")


VECTOR128 = Vector128()
LANES = ir.VectorType(ir.IntType(64), 2)


@register_model(Vector128)
class _Vector128Model(models.PrimitiveModel):
    def __init__(self, manager: Any, frontend_type: Any) -> None:
        super().__init__(manager, frontend_type, LANES)  # type: ignore[no-untyped-call]


def _load_unsigned(result: Any) -> Any:
    """An intrinsic that loads an unsigned number, least significant byte first."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = pointer(context, builder, signature.args[0], arguments, ir.IntType(result.bitwidth))
        return builder.load(place, align=1)

    def load(typing_context: Any, data: Any, at: Any) -> Any:
        return result(data, types.intp), generate

    return intrinsic(load)


def _load_vector(typing_context: Any, data: Any, at: Any) -> Any:
    """Sixteen bytes at `at`."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load(pointer(context, builder, signature.args[0], arguments, LANES), align=1)

    return VECTOR128(data, types.intp), generate


def _vector(typing_context: Any, low: Any, high: Any) -> Any:
    """A vector of two words."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        lanes = ir.Constant(LANES, ir.Undefined)
        for lane, word in enumerate(arguments):
            lanes = builder.insert_element(lanes, word, ir.Constant(ir.IntType(32), lane))
        return lanes

    return VECTOR128(types.uint64, types.uint64), generate


def _word_of(typing_context: Any, value: Any, lane: Any) -> Any:
    """One 64-bit lane of a vector."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.extract_element(arguments[0], builder.trunc(arguments[1], ir.IntType(32)))

    return types.uint64(VECTOR128, types.intp), generate


def _xor(typing_context: Any, left: Any, right: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.xor(*arguments)

    return VECTOR128(VECTOR128, VECTOR128), generate


def _fold(typing_context: Any, value: Any, factors: Any) -> Any:
    """Both lanes multiplied without carries by their factors, and added: `value` moved on by the factors' distance."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        select = ir.IntType(8)
        of_lanes = ir.FunctionType(LANES, [LANES, LANES, select])
        multiply = cast("Any", cgutils).get_or_insert_function(builder.module, of_lanes, "llvm.x86.pclmulqdq")
        low, high = (builder.call(multiply, [*arguments, ir.Constant(select, lanes)]) for lanes in (0x00, 0x11))
        return builder.xor(low, high)

    return VECTOR128(VECTOR128, VECTOR128), generate


load_word = _load_unsigned(types.uint64)
load_half = _load_unsigned(types.uint32)
load_vector = intrinsic(_load_vector)
vector = intrinsic(_vector)
word_of = intrinsic(_word_of)
xor = intrinsic(_xor)
fold = intrinsic(_fold)
