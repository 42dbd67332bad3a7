"""The edits of a case, and what a class of damage is: a base and a seed in, edits out.

None where the class does not apply to a base: it has no index file, or nothing unforced.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from tests.oracle.base import Base

Edit = dict[str, Any]
Found = list[Edit] | None
Damager = Callable[[Base, random.Random], Found]
PAGE = 4096
LATER = "0000030000000000"
EARLIER = "0000000100000000"
"""Times, as a checkpoint and a record hold them, that no broker of today writes."""


def write(file: str, at: int, content: str) -> Edit:
    return {"op": "write", "path": file, "offset": at, "hex": content}


def zero(file: str, at: int, length: int) -> Edit:
    return {"op": "zero", "path": file, "offset": at, "length": length}


def delete(path: str) -> Edit:
    return {"op": "delete", "path": path}


def create(path: str, length: int, content: str = "") -> Edit:
    return {"op": "create", "path": path, "length": length, "hex": content}


def swapped(one: str, other: str) -> list[Edit]:
    kept = f"{one}.kept"
    moves = ((one, kept), (other, one), (kept, other))
    return [*({"op": "copy", "path": source, "to": target} for source, target in moves), delete(kept)]


def fixed(*edits: Edit) -> Damager:
    return lambda base, chance: [dict(edit) for edit in edits]
