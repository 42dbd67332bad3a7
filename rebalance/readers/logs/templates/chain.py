"""A text with several fields of any length, matched in time that grows with the message's length and no faster.

`re` tries every end of the first such field with every end of the second: the square of the length, or worse. Here each
stretch of fixed text between two of them is put as far right as it goes, from the last to the first. That is where `re`
would find them, whose fields take all they can, the first of them first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

_ANY = re.compile(r"(\.[+*])")
_LEAD = re.compile(r"(?:\(\))?((?:(?:\\[^\w\s]|\\ |[^\\.*+?(\[{|])(?![?*+{]))+)")


class _Stretch(NamedTuple):
    """What stands between two gaps: its pattern, the fixed text it starts with, the least width of the gap before."""

    pattern: re.Pattern[str]
    lead: str
    gap: int


class Chain:
    """The parts of a text, fixed ones and fields in turn, cut where anything of any length may stand.

    Args:
        parts: patterns; those of fields are at odd places. A gap is `.*` or `.+`. Other parts have bounded widths.
    """

    def __init__(self, parts: Iterable[str]) -> None:
        marked = "".join(f"(){part}()" if number % 2 else part for number, part in enumerate(parts))
        first, *rest = _ANY.split(marked)
        self._first = re.compile(first, re.DOTALL)
        self._rest = [_stretch(gap, text) for gap, text in zip(rest[::2], rest[1::2], strict=True)]

    def fields_of(self, message: str) -> tuple[str, ...] | None:
        """The texts of the fields of a whole message, None if it is not this text."""
        begin = self._first.match(message)
        if begin is None:
            return None
        found, high = list[re.Match[str]](), len(message)
        for number, stretch in enumerate(reversed(self._rest)):
            placed = _rightmost(stretch, message, begin.end(), high, to_the_end=number == 0)
            if placed is None:
                return None
            found.append(placed)
            high = placed.start() - stretch.gap
        if high < begin.end():
            return None
        marks = [at for match in (begin, *reversed(found)) for at in _marks(match)]
        return tuple(message[start:end] for start, end in zip(marks[::2], marks[1::2], strict=True))


def _stretch(gap: str, text: str) -> _Stretch:
    lead = _LEAD.match(text)
    fixed = re.sub(r"\\(.)", r"\1", lead[1]) if lead else ""
    return _Stretch(re.compile(text, re.DOTALL), fixed, 1 if gap == ".+" else 0)


def _rightmost(stretch: _Stretch, message: str, low: int, high: int, *, to_the_end: bool) -> re.Match[str] | None:
    """The last place in message[low:high] where a stretch fits, or where it fits up to the end."""
    fits = stretch.pattern.fullmatch if to_the_end else stretch.pattern.match
    at = message.rfind(stretch.lead, low, high)
    while at >= low:
        if found := fits(message, at, high):
            return found
        at = message.rfind(stretch.lead, low, at + len(stretch.lead) - 1)
    return None


def _marks(match: re.Match[str]) -> list[int]:
    return [match.start(number) for number in range(1, match.re.groups + 1)]
