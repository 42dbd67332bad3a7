"""A light start, for commands that do without Spark: what nobody needs is not loaded.

Arrow asks of every list it converts whether it is a pandas object, and imports pandas to find out; numba asks for cffi,
with a parser of C, and for yaml, to read a file of settings. In a process of its own the command line says there are
none, until a command wants Spark. The collector of cycles waits longer: loading modules makes objects that all stay.
"""

from __future__ import annotations

import gc
import sys

UNNEEDED = frozenset({"pandas", "cffi", "yaml"})
OBJECTS_BEFORE_COLLECTING = 100_000


class _Unneeded:
    """An import finder that refuses a few names."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        if name in UNNEEDED:
            raise ModuleNotFoundError(name, name=name)


def start_light() -> None:
    """From now on importing what nobody needs fails in this process."""
    gc.set_threshold(OBJECTS_BEFORE_COLLECTING, *gc.get_threshold()[1:])
    sys.meta_path.insert(0, _Unneeded)


def allow_everything() -> None:
    """Take that back; in time only before Arrow has converted anything."""
    if _Unneeded in sys.meta_path:
        sys.meta_path.remove(_Unneeded)
