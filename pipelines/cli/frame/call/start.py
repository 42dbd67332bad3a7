"""A light start, for commands that do without Spark: what nobody needs is not loaded.

Arrow asks of every list it converts whether it is a pandas object, and imports pandas to find out; numba asks for cffi,
with a parser of C, and for yaml, to read a file of settings. In a process of its own the command line says there are
none, until a command wants Spark. The collector of cycles waits longer: loading modules makes objects that all stay.
numpy's library of linear algebra, which these commands do not use, starts no threads. What other programs are started
for, as a notebook's kernel, may use it: a command that wants Spark takes all of this back.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable
from typing import Any, TypeVar

UNNEEDED = frozenset({"pandas", "cffi", "yaml"})
OBJECTS_BEFORE_COLLECTING = 100_000
ROOM = 1 << 15
"""Words of 8 bytes that a frame asks for; as much is left beside them."""

THREADS = "OPENBLAS_NUM_THREADS"
_ours: list[str] = []
"""Variables of the environment that were set here."""

Entered = TypeVar("Entered", bound=Callable[..., Any])


class _Unneeded:
    """An import finder that refuses a few names."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        if name in UNNEEDED:
            raise ModuleNotFoundError(name, name=name)


def with_room(function: Entered) -> Entered:
    """The function, entered with room for the frames of all that it calls.

    CPython takes memory for frames from the system in pieces of 16 KiB. Where a loop calls something across the end of
    a piece, each call takes one and gives it back, and is 25 times as slow; a frame that asks for more gets a piece of
    its own with room behind it.
    Source: CPython 3.11, Python/pystate.c: push_chunk, _PyThreadState_PopFrame.
    """
    function.__code__ = function.__code__.replace(co_stacksize=ROOM)
    return function


def start_light() -> None:
    """From now on importing what nobody needs fails in this process."""
    gc.set_threshold(OBJECTS_BEFORE_COLLECTING, *gc.get_threshold()[1:])
    if THREADS not in os.environ:
        os.environ[THREADS] = "1"
        _ours.append(THREADS)
    sys.meta_path.insert(0, _Unneeded)


def allow_everything() -> None:
    """Take that back; in time only before Arrow has converted anything."""
    if _Unneeded in sys.meta_path:
        sys.meta_path.remove(_Unneeded)
    while _ours:
        os.environ.pop(_ours.pop(), None)
