"""The door of a kernel in a library: takes a block of 64-bit words (see `doors.c`), puts the results into it.

Only what numba gives Python's own wrappers is used: its compiled function, and its convention for calling one.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from llvmlite import binding, ir
from numba import types
from numba.core.compiler_lock import global_compiler_lock
from numba.np import arrayobj
from numba.np.numpy_support import from_dtype

from parsers.kernels.library import SHAPE, name_in_library
from parsers.kernels.signature import Array, Group, Number, Shape, signature_of, text_of

WORD = ir.IntType(64)
ARRAYS, TYPES = cast("Any", arrayobj), cast("Any", types)


@global_compiler_lock
def object_code(dispatcher: Any) -> bytes:
    """A relocatable object with the kernel, all that it calls, and its door.

    Raises TypeError for a kernel whose result is not as annotated.
    """
    name, signature = name_in_library(dispatcher.py_func), signature_of(dispatcher.py_func)
    taken = tuple(numba_type(shape) for shape in signature.takes)
    dispatcher.compile(taken)
    compiled = dispatcher.overloads[taken]
    context = compiled.target_context
    library = context.codegen().create_library(name)
    module = library.create_ir_module(name)
    callee_type = context.call_conv.get_function_type(compiled.fndesc.restype, taken)
    callee = ir.Function(module, callee_type, compiled.fndesc.llvm_func_name)
    door = ir.Function(module, ir.FunctionType(ir.VoidType(), [WORD.as_pointer()]), name)
    builder = ir.IRBuilder(door.append_basic_block())
    words = _Words(context, builder, door.args[0])
    given = [words.value(shape) for shape in signature.takes]
    status, result = context.call_conv.call_function(builder, callee, compiled.fndesc.restype, taken, given)
    words.at = 0
    words.put(builder.zext(status.code, WORD))
    with builder.if_then(status.is_ok, likely=True):
        words.put_result(signature.returns, compiled.fndesc.restype, result)
    builder.ret_void()
    told = bytearray(text_of(signature).encode() + b"\0")
    text = ir.GlobalVariable(module, ir.ArrayType(ir.IntType(8), len(told)), name + SHAPE)
    text.global_constant, text.initializer = True, ir.Constant(text.value_type, told)
    library.add_ir_module(module)
    library.add_linking_library(compiled.library)
    library.finalize()
    return _machine(library).emit_object(library._final_module)  # type: ignore[no-any-return]


def numba_type(shape: Shape) -> Any:
    """The type that numba compiles for."""
    match shape:
        case Number(dtype=dtype):
            return from_dtype(dtype)
        case Array(dtype=dtype, dimensions=dimensions):
            return types.Array(from_dtype(dtype), dimensions, "C")
        case Group(kind=kind, parts=parts):
            inner = [numba_type(part) for part in parts]
            return TYPES.Tuple(inner) if kind is tuple else TYPES.NamedTuple(inner, kind)


def _machine(library: Any) -> Any:
    """What turns LLVM's code into the target's: for numba's processor, and code that may lie anywhere in memory."""
    codegen = library._codegen
    options: dict[str, Any] = {}
    codegen._customize_tm_options(options)
    options |= {"reloc": "pic", "codemodel": "default", "jit": False}
    return binding.Target.from_default_triple().create_target_machine(**options)


class _Words:
    """The block, read and written from its start on."""

    def __init__(self, context: Any, builder: Any, first: Any) -> None:
        self.context, self.builder, self.first, self.at = context, builder, first, 0

    def take(self) -> Any:
        """The next word."""
        return self.builder.load(self._next())

    def put(self, value: Any) -> None:
        self.builder.store(value, self._next())

    def _next(self) -> Any:
        place = self.builder.gep(self.first, [ir.Constant(WORD, self.at)])
        self.at += 1
        return place

    def value(self, shape: Shape) -> Any:
        """The next argument, as numba passes it."""
        of_type = numba_type(shape)
        match shape:
            case Number(dtype=dtype):
                word = self.take()
                if dtype == np.bool_:
                    return self.builder.icmp_unsigned("!=", word, ir.Constant(WORD, 0))
                width = 8 * dtype.itemsize
                return word if width == 64 else self.builder.trunc(word, ir.IntType(width))
            case Array(dtype=dtype, dimensions=dimensions):
                return self._array(of_type, dtype.itemsize, dimensions)
            case Group(parts=parts):
                return self.context.make_tuple(self.builder, of_type, [self.value(part) for part in parts])

    def _array(self, of_type: Any, item_size: int, dimensions: int) -> Any:
        array = self.context.make_array(of_type)(self.context, self.builder)
        data = self.builder.inttoptr(self.take(), array.data.type)
        shape = [self.take() for _ in range(dimensions)]
        steps = [ir.Constant(WORD, item_size)]
        for length in reversed(shape[1:]):
            steps.insert(0, self.builder.mul(steps[0], length))
        ARRAYS.populate_array(
            array, data=data, shape=shape, strides=steps, itemsize=ir.Constant(WORD, item_size), meminfo=None
        )
        return array._getvalue()

    def put_result(self, shape: Shape | None, of_type: Any, value: Any) -> None:
        """The result, a word for each scalar."""
        match shape:
            case None:
                expected = isinstance(of_type, types.NoneType)
            case Number():
                expected = isinstance(of_type, (types.Integer, types.Boolean))
            case Group(parts=parts):
                expected = isinstance(of_type, types.BaseTuple) and len(of_type) == len(parts)
            case Array():
                expected = False
        if not expected:
            raise TypeError(f"a kernel is annotated to return {shape}, numba finds {of_type}")
        if isinstance(shape, Number):
            self._put_scalar(of_type, value)
        elif isinstance(shape, Group):
            for place, part in enumerate(shape.parts):
                self.put_result(part, of_type[place], self.builder.extract_value(value, place))

    def _put_scalar(self, of_type: Any, value: Any) -> None:
        width = cast("ir.IntType", value.type).width
        if width == WORD.width:
            self.put(value)
        elif getattr(of_type, "signed", False):
            self.put(self.builder.sext(value, WORD))
        else:
            self.put(self.builder.zext(value, WORD))
