"""The version of rocketlens, read once: the package's metadata is a text of some size."""

from __future__ import annotations

from functools import cache
from importlib import metadata


@cache
def installed_version() -> str:
    """The version of the installed package."""
    return metadata.version("rocketlens")
