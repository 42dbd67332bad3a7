"""Frozen dataclasses that are quick to make and to read: facts, sightings and rows come by the million.

Only the type checker keeps them frozen. A class that guards its fields at run time fills them through its guard, which
more than doubles what making an object costs; a named tuple is slower to make, and its fields slower to read, than
slots.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar, dataclass_transform

_Kind = TypeVar("_Kind")


@dataclass_transform(frozen_default=True)
def frozen(*, kw_only: bool = False, eq: bool = True) -> Callable[[type[_Kind]], type[_Kind]]:
    """`@dataclass(frozen=True, slots=True, kw_only=…, eq=…)`, but for the guard."""
    return dataclass(slots=True, unsafe_hash=eq, eq=eq, kw_only=kw_only)
