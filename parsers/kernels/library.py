"""Kernels that were compiled ahead: the shared library that holds them, opened for Python.

Each kernel is there as a function that takes a block of 64-bit words (`parsers.kernels.ahead.doors`), with a text that
says what the block holds. `doors.c`, in the same library, makes a function of Python of the two.
"""

from __future__ import annotations

import ctypes
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NoReturn

from parsers.kernels.sources import SourceStamp, is_unchanged
from parsers.kernels.targets import processor_flags, processor_stamp, targets_here

BUILT = Path(__file__).parent / "built"
NATIVE = "native"
"""The library of a checkout, for the processor that it was made on; others are named for their target."""
SHAPE = "__shape"
"""What follows a kernel's name in the name of its text."""


@dataclass(frozen=True, slots=True)
class NativeStamp:
    """What a library for one processor was made from, and on which: it is used only while both are the same.

    Attributes:
        folds: as in `Library`.
        sources: none where they never change: in a wheel.
    """

    processor: str
    folds: bool
    sources: SourceStamp

    @classmethod
    def here(cls, sources: SourceStamp) -> NativeStamp:
        """Of this processor."""
        return cls(processor_stamp(), "pclmulqdq" in processor_flags(), sources)

    def write(self, folder: Path) -> None:
        (folder / f"{NATIVE}.json").write_text(json.dumps(asdict(self)))

    @classmethod
    def read(cls, folder: Path) -> NativeStamp | None:
        """None where there is none that can be read."""
        try:
            told = json.loads((folder / f"{NATIVE}.json").read_text())
            return cls(told["processor"], told["folds"], tuple((str(n), int(t), int(s)) for n, t, s in told["sources"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def holds(self) -> bool:
        """The sources are as they were, and so is the processor."""
        return is_unchanged(self.sources) and self.processor == processor_stamp()


class Library:
    """A loaded library.

    Attributes:
        folds: its code multiplies without carries.
    """

    def __init__(self, path: Path, *, folds: bool) -> None:
        self.path, self.folds = path, folds
        self._loaded = ctypes.PyDLL(str(path))
        self._open_door = self._loaded.kernels_open_door
        self._open_door.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p]
        self._open_door.restype = ctypes.py_object
        self._texts: list[bytes] = []

    def function(self, source: Callable[..., Any]) -> Callable[..., Any]:
        """The kernel that was made of a function: it takes the same arguments, none of them by name.

        The function raises TypeError for an argument that is not as annotated: an array of other items or of another
        number of dimensions; ValueError for one that is not contiguous.
        """
        name = name_in_library(source)
        try:
            kernel, shape = (ctypes.addressof(ctypes.c_byte.in_dll(self._loaded, end)) for end in (name, name + SHAPE))
        except ValueError:  # a private one: it is part of others
            return within_compiled_code
        texts = [source.__name__.encode(), (source.__doc__ or "").encode()]
        self._texts += texts  # the function keeps their addresses
        opened: Callable[..., Any] = self._open_door(kernel, shape, *texts)
        return opened


def within_compiled_code(*_: object) -> NoReturn:
    """Stands for what only kernels call. Raises TypeError."""
    raise TypeError("this is called by kernels alone")


def name_in_library(function: Callable[..., Any]) -> str:
    """The name of a kernel there."""
    return f"{function.__module__}.{function.__qualname__}".replace(".", "__")


def usable_library() -> Library | None:
    """The library that this processor can run and that is not older than the code; None where there is none."""
    native = BUILT / f"{NATIVE}.so"
    if native.is_file():
        stamp = NativeStamp.read(BUILT)
        return _opened(native, folds=stamp.folds) if stamp and stamp.holds() else None
    for target in targets_here():
        path = BUILT / f"{target.name}.so"
        if path.is_file():
            return _opened(path, folds=target.folds)
    return None


def _opened(path: Path, *, folds: bool) -> Library | None:
    """None where the system does not run it: where files of that disk may not, or this one came in pieces."""
    try:
        return Library(path, folds=folds)
    except OSError:
        return None
