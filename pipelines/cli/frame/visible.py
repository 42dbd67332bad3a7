"""Text from outside made safe to show: names of files and lines of logs may hold what a terminal obeys."""

from __future__ import annotations

import sys


def visible(text: str) -> str:
    """The text with everything that does not print, control characters and turns of direction, as an escape."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def say(sentence: str) -> None:
    """One line on stderr."""
    print(f"rocketlens: {visible(sentence)}", file=sys.stderr)
