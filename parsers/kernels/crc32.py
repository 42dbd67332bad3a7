"""CRC-32 (zlib's polynomial) inside compiled code, by carry-less multiplication where the processor has it.

Folding after Gopal et al., "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction" (Intel, 2009):
64 bytes a step are multiplied down to 16, and these, with what is left, go through the eight-table form.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from llvmlite import binding, ir
from numba import types
from numba.core import cgutils, config
from numba.extending import intrinsic, models, register_model

from parsers.kernels.blocks import Bytes, pointer
from parsers.kernels.numba_cache import cached_njit

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


class Vector128(types.Type):
    """Sixteen bytes in one register, as two 64-bit lanes."""

    def __init__(self) -> None:
        super().__init__(name="Vector128")


Load = Callable[[Bytes, int], Any]
VECTOR128 = Vector128()
LANES = ir.VectorType(ir.IntType(64), 2)


@register_model(Vector128)
class _Vector128Model(models.PrimitiveModel):
    def __init__(self, manager: Any, frontend_type: Any) -> None:
        super().__init__(manager, frontend_type, LANES)  # type: ignore[no-untyped-call]


def _load_unsigned(result: Any) -> Load:
    """An intrinsic that loads an unsigned number, least significant byte first."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = pointer(context, builder, signature.args[0], arguments, ir.IntType(result.bitwidth))
        return builder.load(place, align=1)

    def load(typing_context: Any, data: Any, at: Any) -> Any:
        return result(data, types.intp), generate

    return cast("Load", intrinsic(load))


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
load_vector = cast("Callable[[Bytes, int], Vector128]", intrinsic(_load_vector))
vector = cast("Callable[[np.uint64, np.uint64], Vector128]", intrinsic(_vector))
word_of = cast("Callable[[Vector128, int], np.uint64]", intrinsic(_word_of))
xor = cast("Callable[[Vector128, Vector128], Vector128]", intrinsic(_xor))
fold = cast("Callable[[Vector128, Vector128], Vector128]", intrinsic(_fold))


@cached_njit(nogil=True, _nrt=False, forceinline=True)
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


@cached_njit(nogil=True, _nrt=False, forceinline=True)
def _half_step(crc: np.uint32, four: np.uint32) -> Any:
    """The CRC after four more bytes."""
    half = four ^ crc
    return (
        TABLES[3, half & np.uint32(0xFF)]
        ^ TABLES[2, half >> np.uint32(8) & np.uint32(0xFF)]
        ^ TABLES[1, half >> np.uint32(16) & np.uint32(0xFF)]
        ^ TABLES[0, half >> np.uint32(24)]
    )


@cached_njit(nogil=True, _nrt=False, forceinline=True)
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


@cached_njit(nogil=True, _nrt=False)
def crc32_by_tables(data: Bytes, at: int, size: int) -> np.uint32:
    """`zlib.crc32(data[at : at + size])` on any processor."""
    return ~np.uint32(_by_tables(np.uint32(0xFFFFFFFF), data, at, size))


@cached_njit(nogil=True, _nrt=False)
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


def _can_fold() -> bool:
    """Whether code compiled here may use the instruction: the processor has it and numba is not set to another one."""
    if getattr(config, "CPU_NAME", None) or getattr(config, "CPU_FEATURES", None):
        return False
    try:
        return bool(binding.get_host_cpu_features().get("pclmul", False))
    except RuntimeError:  # llvmlite: the features of this processor are unknown
        return False


crc32 = crc32_by_folding if _can_fold() else crc32_by_tables
