"""RocketMQ versions, in the order of releases."""

from __future__ import annotations

from typing import NamedTuple, Self


class Version(NamedTuple):
    """A release, ordered as releases are: `Version(4, 9, 8) < Version(5, 0, 0)`."""

    major: int
    minor: int
    patch: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """`"5.3.3"`, `"V5_3_3"` or `"5.3.3-SNAPSHOT"`; a missing patch number is 0.

        Raises:
            ValueError: not two or three numbers.
        """
        numbers = text.strip().lstrip("Vv").partition("-")[0].replace("_", ".").split(".")
        if not 2 <= len(numbers) <= 3 or not all(n.isascii() and n.isdigit() for n in numbers):
            raise ValueError(f"not a RocketMQ version: {text!r} (expected a form like 5.3.3)")
        major, minor, patch = (*map(int, numbers), 0)[:3]
        return cls(major, minor, patch)


NEWEST = Version(5, 5, 1)
"""The newest release whose behaviour is described; taken where nobody says which version a client runs."""
