"""How a behaviour that changed is declared of the versions that have it."""

from __future__ import annotations

from collections.abc import Callable
from typing import overload

from parsers.values.version import Version


class Rule:
    """What some versions do, asked of a version as an attribute: True of one that does it.

    Attributes:
        what: it in words, and its source.
    """

    def __init__(self, holds: Callable[[Version], bool], what: str) -> None:
        self.holds, self.what = holds, what

    @overload
    def __get__(self, version: None, versions: type[Version]) -> Rule: ...
    @overload
    def __get__(self, version: Version, versions: type[Version]) -> bool: ...
    def __get__(self, version: Version | None, versions: type[Version]) -> Rule | bool:
        return self if version is None else self.holds(version)


def since(first: str, what: str) -> Rule:
    """A rule of this version and all later ones."""
    return Rule(Version.parse(first).__le__, what)


def before(end: str, what: str) -> Rule:
    """A rule of all versions before this one."""
    return Rule(Version.parse(end).__gt__, what)
