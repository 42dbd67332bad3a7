"""A kernel: a function that runs as machine code. How it comes by that is decided here, once for a process.

A wheel brings its kernels compiled, and so does a checkout that was set up where a C compiler links them: a call goes
to that library, and nothing here imports a compiler. Anywhere else numba compiles a kernel when it is first called.

Kernels call each other within compiled code only, and a private one is called by kernels alone. Any other is annotated
with the arrays of `parsers.kernels.arrays`, int, bool, and tuples of these; it returns int, bool or a tuple of them.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any, TypeVar, cast

from parsers.kernels.library import Library, usable_library, within_compiled_code

Kernel = TypeVar("Kernel", bound=Callable[..., Any])

CHOICE = "ROCKETLENS_KERNELS"
JUST_IN_TIME, AHEAD = "numba", "build"
"""`ROCKETLENS_KERNELS=numba`: every kernel is compiled when it is first called, whatever library there is; `build`: it
is kept for the library that this process makes."""


@cache
def library() -> Library | None:
    """The library of this process; None where kernels are compiled as they are called."""
    return None if os.environ.get(CHOICE) in (JUST_IN_TIME, AHEAD) else usable_library()


def kernel(function: Kernel) -> Kernel:
    """The function as machine code that needs neither Python's objects nor its lock."""
    return _kernel(function, inline=False)


def inline_kernel(function: Kernel) -> Kernel:
    """A kernel that is part of each kernel that calls it."""
    return _kernel(function, inline=True)


def _kernel(function: Kernel, *, inline: bool) -> Kernel:
    compiled = library()
    if compiled is not None:
        return cast("Kernel", compiled.function(function))
    from parsers.kernels.jit import compile_for_library, compile_lazily

    compile_with = compile_for_library if os.environ.get(CHOICE) == AHEAD else compile_lazily
    return compile_with(function, inline=inline)


def intrinsic(module: str, name: str) -> Callable[..., Any]:
    """What stands for `name` of `parsers.kernels.llvm.<module>` in the text of kernels, which alone can call it."""
    if library() is None:
        return cast("Callable[..., Any]", getattr(import_module(f"parsers.kernels.llvm.{module}"), name))
    return within_compiled_code


def can_fold() -> bool:
    """Whether kernels may multiply without carries: the processor does, and so does what they are compiled for."""
    compiled = library()
    if compiled is not None:
        return compiled.folds
    from parsers.kernels.jit import can_multiply_without_carries

    return can_multiply_without_carries()
