"""numba with its compile cache: where a cache directory is writable, and never older than the code it was made from.

numba compares the time of the one file that a function is in. What the function calls, and each constant that it reads,
is compiled into it, though, and an edit there would leave old code in use. So a function is stamped with every file of
our rooms that its module imports, directly or through others.
"""

from __future__ import annotations

import os
import pickle
import re
import sys
from collections.abc import Callable
from functools import cache
from os.path import isfile
from pathlib import Path
from typing import Any, TypeVar, cast

from numba import njit
from numba.core.runtime.nrt import rtsys

Kernel = TypeVar("Kernel", bound=Callable[..., Any])
Stamp = tuple[tuple[str, int, int], ...]

IMPORT = re.compile(r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n]*)|import[ \t]+([\w.]+))", re.M)
WORD = re.compile(r"\w+")


def cached_njit(**options: Any) -> Callable[[Kernel], Kernel]:
    """`njit(cache=True)` that compiles without a cache where none can be written (numba raises at import there)."""

    def compile_lazily(function: Kernel) -> Kernel:
        try:
            dispatcher = njit(cache=True, **options)(function)
        except RuntimeError:
            return cast("Kernel", njit(**options)(function))
        dispatcher._compilation_chain_init_hook = _no_extensions  # numba has no door for what follows
        cache = dispatcher._cache
        cache._cache_file._source_stamp = source_stamp(function)
        cache._cache_file._load_index = _index_loader(cache._cache_file)
        cache.load_overload = _loader(cache, allocates=options.get("_nrt", True))
        return cast("Kernel", dispatcher)

    return compile_lazily


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
    return tuple((name, *_time_and_size(file)) for name, file in _files_behind(function.__module__))


@cache
def _files_behind(module: str) -> tuple[tuple[str, Path], ...]:
    """The module and those of our rooms that it imports, directly or through others, each with its file.

    The text is read, since an imported constant does not tell where it came from.
    """
    rooms = {
        room: _folder_of(room) for room in ("parsers", "recovery", module.partition(".")[0]) if room in sys.modules
    }
    found: dict[str, Path] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        file = _file_of(name, rooms)
        if file is not None and name not in found:
            found[name] = file
            waiting += _imports(file)
    return tuple(sorted(found.items()))


def _file_of(module: str, rooms: dict[str, str]) -> Path | None:
    room, _, below = module.partition(".")
    return _file_below(rooms[room], below) if room in rooms else None


@cache
def _file_below(folder: str, module: str) -> Path | None:
    """The file of a module by its name below a room; kept, since most modules import the same few."""
    place = os.path.join(folder, *module.split("."))
    return next((Path(file) for file in (f"{place}.py", os.path.join(place, "__init__.py")) if isfile(file)), None)


@cache
def _imports(file: Path) -> list[str]:
    """Modules that the file imports, and names that may be modules: `from a import b` gives `a` and `a.b`."""
    modules = []
    for package, names, module in IMPORT.findall(file.read_text("utf-8")):
        modules += [package or module, *(f"{package}.{name}" for name in WORD.findall(names))]
    return modules


@cache
def _time_and_size(file: Path) -> tuple[int, int]:
    seen = file.stat()
    return seen.st_mtime_ns, seen.st_size


def _folder_of(module: str) -> str:
    return os.path.dirname(sys.modules[module].__file__ or "")
