"""Addresses such as `s3://bucket/lake`: a path library takes them for folders named `s3:`, so they are looked for."""

from __future__ import annotations

import re
from pathlib import Path

ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:/")
"""A scheme, and one slash: a `Path` of `s3://bucket` keeps no more. A folder of such a name is given from `/` on."""


def is_address(place: str | Path) -> bool:
    """Whether a text or path names no place of this machine."""
    return ADDRESS.match(str(place)) is not None


def written_address(place: Path) -> str:
    """The address that became a path, of which a path library left one slash."""
    return str(place).replace(":/", "://", 1)


def why_refused(place: str | Path) -> str:
    """The sentence for an address in place of a folder or file."""
    return (
        f"{str(place)!r}: only folders and files of this machine are read and written here, no addresses; the path of "
        "[lake], and a store or a file of one, may be one of an object store (s3://, az://)"
    )
