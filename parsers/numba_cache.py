"""numba with its compile cache: where a cache directory is writable, and never older than the code it was made from.

numba compares the time of the one file that a function is in; what the function calls is compiled into it, though, and
an edit there would leave old code in use. Here a function is stamped with every file of the folders its parts are from.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

from numba import njit
from numba.core.runtime.nrt import rtsys

Kernel = TypeVar("Kernel", bound=Callable[..., Any])
Stamp = tuple[tuple[str, int, int], ...]

SHARED_KERNELS = Path(__file__).parent / "kernels"


def cached_njit(**options: Any) -> Callable[[Kernel], Kernel]:
    """`njit(cache=True)` that compiles without a cache where none can be written (numba raises at import there)."""

    def compile_lazily(function: Kernel) -> Kernel:
        try:
            dispatcher = njit(cache=True, **options)(function)
        except RuntimeError:
            return cast("Kernel", njit(**options)(function))
        cache = dispatcher._cache  # numba has no door for what follows
        cache._cache_file._source_stamp = source_stamp(function)
        cache.load_overload = _loader(cache, allocates=options.get("_nrt", True))
        return cast("Kernel", dispatcher)

    return compile_lazily


def _loader(cache: Any, *, allocates: bool) -> Callable[[Any, Any], Any]:
    """`Cache.load_overload` that leaves the compiler asleep: what it wakes up first, only compiling needs."""

    def load_overload(signature: Any, target_context: Any) -> Any:
        if allocates:
            rtsys.initialize(target_context)
        with cache._guard_against_spurious_io_errors():
            return cache._load_overload(signature, target_context)

    return load_overload


def source_stamp(function: Callable[..., Any]) -> Stamp:
    """Name, time and size of each file that the compiled function can hold code or constants of."""
    folders = {SHARED_KERNELS, _folder_of(function.__module__)}
    for part in function.__globals__.values():
        module = getattr(part, "__module__", None)
        if callable(part) and isinstance(module, str) and module.partition(".")[0] in ("parsers", "recovery"):
            folders.add(_folder_of(module))
    return tuple(entry for folder in sorted(folders) for entry in _files_of(folder))


def _folder_of(module: str) -> Path:
    return Path(sys.modules[module].__file__ or ".").parent


@cache
def _files_of(folder: Path) -> Stamp:
    files = ((path, path.stat()) for path in sorted(folder.glob("*.py")))
    return tuple((path.name, seen.st_mtime_ns, seen.st_size) for path, seen in files)
