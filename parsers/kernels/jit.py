"""Kernels that numba compiles: when they are called, or for a library.

What is compiled for a call is kept in numba's cache, where that is writable, and never older than the code it was made
from.

numba compares the time of the one file that a function is in; the stamp of `parsers.kernels.sources` takes its place.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any, TypeVar, cast

from llvmlite import binding
from numba import njit
from numba.core import config

from parsers.kernels.sources import source_stamp

Kernel = TypeVar("Kernel", bound=Callable[..., Any])

OPTIONS = {"nogil": True, "_nrt": False}
COMPILER, CONFIG = cast("Any", njit), cast("Any", config)
"""numba's own types know neither `_nrt` nor its settings."""


def compile_lazily(function: Kernel, *, inline: bool) -> Kernel:
    """`njit(cache=True)` that compiles without a cache where none can be written (numba raises at import there)."""
    options = {**OPTIONS, "forceinline": inline}
    try:
        dispatcher = COMPILER(cache=True, **options)(function)
    except RuntimeError:
        dispatcher = COMPILER(**options)(function)
    else:
        cache = dispatcher._cache
        cache._cache_file._source_stamp = source_stamp([function.__module__])
        cache._cache_file._load_index = _index_loader(cache._cache_file)
        cache.load_overload = _loader(cache)
    dispatcher._compilation_chain_init_hook = _no_extensions  # numba has no door for what follows
    return cast("Kernel", dispatcher)


CALLED: list[Any] = []
"""What `compile_for_library` gave of kernels that Python may call, callees first; a private one is part of others."""


def compile_for_library(function: Kernel, *, inline: bool) -> Kernel:
    """`njit` without the wrappers that callers of its own would need."""
    dispatcher = COMPILER(no_cpython_wrapper=True, no_cfunc_wrapper=True, forceinline=inline, **OPTIONS)(function)
    if not function.__name__.startswith("_"):
        CALLED.append(dispatcher)
    return cast("Kernel", dispatcher)


def can_multiply_without_carries() -> bool:
    """The processor that numba compiles for can: this one, or the one that numba's environment names."""
    asked = CONFIG.CPU_FEATURES if CONFIG.CPU_NAME else None
    if asked is not None:
        return "+pclmul" in asked
    try:
        return bool(binding.get_host_cpu_features().get("pclmul", False))
    except RuntimeError:  # llvmlite: the features of this processor are unknown
        return False


def _no_extensions() -> None:
    """What numba would do before it takes the first arguments: ask every installed package for types of its own, which
    no kernel takes, and import what has any."""


def _index_loader(cache_file: Any) -> Callable[[], dict[Any, str]]:
    """`IndexDataCacheFile._load_index` that finds nothing in an index it cannot read.

    The index is a pickle that names the types of arguments: of another version of the code a type may be gone, and the
    stamp, which would tell, stands in the same pickle.
    """
    load_index = cache_file._load_index

    def load() -> dict[Any, str]:
        try:
            return dict(load_index())
        except (AttributeError, EOFError, ImportError, IndexError, TypeError, ValueError, pickle.UnpicklingError):
            return {}

    return load


def _loader(cache: Any) -> Callable[[Any, Any], Any]:
    """`Cache.load_overload` that leaves the compiler asleep: what it wakes up first, only compiling needs."""

    def load_overload(signature: Any, target_context: Any) -> Any:
        with cache._guard_against_spurious_io_errors():
            return cache._load_overload(signature, target_context)

    return load_overload
