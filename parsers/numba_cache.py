"""numba with its compile cache, where a cache directory is writable."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


def cached_njit(**options: Any) -> Callable[[Kernel], Kernel]:
    """`njit(cache=True)` that compiles without a cache where none can be written (numba raises at import there)."""

    def compile_lazily(function: Kernel) -> Kernel:
        try:
            return cast("Kernel", njit(cache=True, **options)(function))
        except RuntimeError:
            return cast("Kernel", njit(**options)(function))

    return compile_lazily
