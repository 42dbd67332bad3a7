"""Which files the machine code of a kernel was made from, and whether they are still the same.

What a kernel calls, and each constant that it reads, is compiled into it, and an edit there would leave old code in
use. So it is stamped with every file of our rooms that its module imports, directly or through others, and with all of
this folder, which says how kernels are compiled: intrinsics are looked up by name, and no import tells of them.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable
from functools import cache
from os.path import isfile
from pathlib import Path

SourceStamp = tuple[tuple[str, int, int], ...]
"""Name of a module, time (ns) and size of its file."""

IMPORT = re.compile(r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n]*)|import[ \t]+([\w.]+))", re.M)
WORD = re.compile(r"\w+")
HOME = Path(__file__).parents[2]
"""Where the rooms are."""


def source_stamp(modules: Iterable[str]) -> SourceStamp:
    """Each file that the kernels of these modules can hold code or constants of."""
    files = {file for module in modules for file in _files_behind(module)} | _compiling_files()
    return tuple(sorted((os.path.relpath(file, HOME), *_time_and_size(file)) for file in files))


def is_unchanged(stamp: SourceStamp) -> bool:
    """Every file is there, as old and as large as it was."""
    try:
        return all(_time_and_size(HOME / name) == (time, size) for name, time, size in stamp)
    except OSError:
        return False


@cache
def _compiling_files() -> frozenset[Path]:
    """Those of this folder: the intrinsics, how they are compiled, and the door of C."""
    return frozenset(file for file in Path(__file__).parent.rglob("*.[pc]*") if file.suffix in (".py", ".c"))


@cache
def _files_behind(module: str) -> frozenset[Path]:
    """The files of the module and of those of our rooms that it imports, directly or through others.

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
    return frozenset(found.values())


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
