"""RocketMQ versions: the order of releases, and the MQVersion number that every request carries."""

from __future__ import annotations

from typing import NamedTuple

_ORDINAL_OF_5_0_0 = 413
"""MQVersion has two constants per patch number (snapshot, release) and ten patch numbers per minor version."""
_ORDINAL_OF_4_0_0_SNAPSHOT = _ORDINAL_OF_5_0_0 - 2 * 100 - 1
"""Below it (3.x) the enum's names follow no rule."""


class Version(NamedTuple):
    """A release, ordered as releases are: `Version(4, 9, 8) < Version(5, 0, 0)`."""

    major: int
    minor: int
    patch: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"

    @classmethod
    def parse(cls, text: str) -> Version:
        """`"5.3.3"`, `"V5_3_3"` or `"5.3.3-SNAPSHOT"`; a missing patch number is 0.

        Raises:
            ValueError: not two or three numbers.
        """
        numbers = text.strip().lstrip("Vv").partition("-")[0].replace("_", ".").split(".")
        if not 2 <= len(numbers) <= 3 or not all(n.isascii() and n.isdigit() for n in numbers):
            raise ValueError(f"not a RocketMQ version: {text!r} (expected a form like 5.3.3)")
        major, minor, patch = (*map(int, numbers), 0)[:3]
        return cls(major, minor, patch)

    @classmethod
    def from_ordinal(cls, ordinal: int) -> Version | None:
        """The release of an MQVersion ordinal (`clientVersion`, `version=` in broker logs); None where no rule holds.

        A snapshot counts as its release. 407 -> 4.9.7, 479 -> 5.3.3, 513 -> 5.5.0.
        Source: rocketmq-all-5.3.3, MQVersion.Version.
        """
        if ordinal < _ORDINAL_OF_4_0_0_SNAPSHOT:
            return None
        patches = 500 + (ordinal - _ORDINAL_OF_5_0_0 + 1) // 2
        return cls(patches // 100, patches // 10 % 10, patches % 10)


NEWEST = Version(5, 5, 1)
"""The newest release whose behaviour is described here; taken where nobody says which version runs."""
